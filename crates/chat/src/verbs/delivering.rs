//! What communities' own sites are to be told: kept until it was delivered, or given up.
//!
//! All of it is for keys: the server's own questions.

use crate::access;
use crate::delivery::{Delivery, GivenUp};
use crate::failure::Failure;
use crate::ids::{CommunityId, DeliveryId, KeyId};
use crate::limits::{DEAD_LETTERS_MAX, PAGE_MAX};
use crate::moment::Moment;
use crate::rows::{Rows, Target};
use crate::{Call, Command, Verb, WEIGHT_MAX};

/// Keeps something that an endpoint is to be told, unless that is revoked or the person of whom it tells is not there: then
/// nothing of it is kept ([`RevokeKey`], [`Erase`]). Again, it is there once. How much may wait is the business of whoever
/// delivers.
///
/// [`RevokeKey`]: super::RevokeKey
/// [`Erase`]: super::Erase
#[derive(Clone, Debug)]
pub struct KeepDelivery {
    /// What.
    pub delivery: Delivery,
}

impl Command for KeepDelivery {
    type Answer = ();
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        access::key_or_self(call, None)?;
        let person = &self.delivery.person;
        if !person.is_reserved() && rows.person(&call.community, person)?.is_none() {
            return Ok(());
        }
        match rows.key(&call.community, self.delivery.endpoint)? {
            Some(key) if key.revoked.is_none() => Ok(rows.put_delivery(&call.community, &self.delivery)?),
            Some(_) | None => Ok(()),
        }
    }
}

/// Notes that an attempt failed. What is not there any more stays so.
#[derive(Clone, Copy, Debug)]
pub struct NoteAttempt {
    /// Whose.
    pub endpoint: KeyId,
    /// Which.
    pub id: DeliveryId,
    /// Attempts that failed so far.
    pub attempts: u32,
}

impl Command for NoteAttempt {
    type Answer = ();
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        access::key_or_self(call, None)?;
        match rows.delivery(&call.community, self.endpoint, self.id)? {
            Some(row) => {
                Ok(rows.put_delivery(&call.community, &Delivery { attempts: self.attempts, ..row })?)
            }
            None => Ok(()),
        }
    }
}

/// Notes that something was delivered: it is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct EndDelivery {
    /// Whose.
    pub endpoint: KeyId,
    /// Which.
    pub id: DeliveryId,
}

impl Command for EndDelivery {
    type Answer = ();
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<(), Failure> {
        access::key_or_self(call, None)?;
        Ok(rows.remove(&call.community, &Target::Delivery { endpoint: self.endpoint, id: self.id })?)
    }
}

/// Gives up one delivery, or a part of all that wait for an endpoint: to be repeated while there are more. They are dead
/// letters then, of which an endpoint has at most [`DEAD_LETTERS_MAX`], the newest.
#[derive(Clone, Debug)]
pub struct GiveUp {
    /// Whose.
    pub endpoint: KeyId,
    /// Which; none: all.
    pub id: Option<DeliveryId>,
    /// Why.
    pub why: String,
}

impl Command for GiveUp {
    /// Whether there is more to give up.
    type Answer = bool;
    const WRITES: bool = true;

    fn weight(&self) -> u32 {
        if self.id.is_some() { 2 } else { WEIGHT_MAX }
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<bool, Failure> {
        access::key_or_self(call, None)?;
        let (community, endpoint) = (&call.community, self.endpoint);
        let given_up = match self.id {
            Some(id) => rows.delivery(community, endpoint, id)?.into_iter().collect(),
            None => rows.deliveries(community, endpoint, false, PAGE_MAX)?,
        };
        let more = self.id.is_none() && given_up.len() >= PAGE_MAX;
        let count = given_up.len();
        for row in given_up {
            let given_up = Some(GivenUp { at: call.now, why: self.why.clone() });
            rows.put_delivery(community, &Delivery { given_up, ..row })?;
        }
        let dead = rows.deliveries(community, endpoint, true, DEAD_LETTERS_MAX + count)?;
        for old in dead.iter().take(dead.len().saturating_sub(DEAD_LETTERS_MAX)) {
            rows.remove(community, &Target::Delivery { endpoint, id: old.id })?;
        }
        Ok(more)
    }
}

/// What was given up of an endpoint, the oldest first; at most [`DEAD_LETTERS_MAX`].
#[derive(Clone, Copy, Debug)]
pub struct DeadLetters {
    /// Whose.
    pub endpoint: KeyId,
}

impl Command for DeadLetters {
    type Answer = Vec<Delivery>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Delivery>, Failure> {
        access::key_or_self(call, None)?;
        Ok(rows.deliveries(&call.community, self.endpoint, true, DEAD_LETTERS_MAX)?)
    }
}

/// How many dead letters a community has, of all endpoints.
#[derive(Clone, Copy, Debug)]
pub struct CountDeadLetters;

impl Command for CountDeadLetters {
    type Answer = u64;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<u64, Failure> {
        access::key_or_self(call, None)?;
        Ok(rows.dead_letters_count(&call.community)?)
    }
}

/// What waits to be delivered by one server, in all communities, those of an endpoint in their order. For a server that starts,
/// and never to be offered to anybody else.
#[derive(Clone, Debug)]
pub struct Undelivered {
    /// Which server.
    pub holder: String,
    /// What others hold since before that counts as well: they did not come back.
    pub abandoned_before: Moment,
    /// Those after it.
    pub after: Option<(CommunityId, KeyId, DeliveryId)>,
}

impl Verb for Undelivered {
    /// A page: the last one is empty.
    type Answer = Vec<(CommunityId, Delivery)>;
    const WRITES: bool = false;

    fn community(&self) -> Option<&CommunityId> {
        None
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        Ok(rows.undelivered(&self.holder, self.abandoned_before, self.after.as_ref(), PAGE_MAX)?)
    }
}
