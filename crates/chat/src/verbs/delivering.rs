//! Deliveries to communities' own sites: kept until delivered or given up.
//!
//! All of these verbs are for keys: only the server itself uses them.

use crate::access;
use crate::delivery::{Delivery, GivenUp};
use crate::failure::Failure;
use crate::ids::{CommunityId, DeliveryId, KeyId};
use crate::limits::{DEAD_LETTERS_MAX, PAGE_MAX};
use crate::moment::Moment;
use crate::rows::{Rows, Target};
use crate::{Call, Command, Verb, WEIGHT_MAX};

/// Stores a delivery, unless its endpoint is revoked, or the person or the conversation that it is about does not exist:
/// nothing is kept for those ([`RevokeKey`], [`Erase`], [`EraseConversation`]). Idempotent. Limiting how many may wait is
/// up to the sender of deliveries.
///
/// [`RevokeKey`]: super::RevokeKey
/// [`Erase`]: super::Erase
/// [`EraseConversation`]: super::EraseConversation
#[derive(Clone, Debug)]
pub struct KeepDelivery {
    /// The delivery.
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
        if let Some(conversation) = self.delivery.conversation
            && rows.conversation(&call.community, conversation)?.is_none()
        {
            return Ok(());
        }
        match rows.key(&call.community, self.delivery.endpoint)? {
            Some(key) if key.revoked.is_none() => Ok(rows.put_delivery(&call.community, &self.delivery)?),
            Some(_) | None => Ok(()),
        }
    }
}

/// Records a failed attempt. Does nothing if the delivery no longer exists.
#[derive(Clone, Copy, Debug)]
pub struct NoteAttempt {
    /// The endpoint.
    pub endpoint: KeyId,
    /// The delivery's id.
    pub id: DeliveryId,
    /// Number of failed attempts so far.
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

/// Removes a delivery that succeeded.
#[derive(Clone, Copy, Debug)]
pub struct EndDelivery {
    /// The endpoint.
    pub endpoint: KeyId,
    /// The delivery's id.
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

/// Gives up one delivery, or some of those that wait for an endpoint: repeat while there are more. They become dead
/// letters, of which an endpoint keeps the newest [`DEAD_LETTERS_MAX`].
#[derive(Clone, Debug)]
pub struct GiveUp {
    /// The endpoint.
    pub endpoint: KeyId,
    /// The delivery's id; `None`: all that wait.
    pub id: Option<DeliveryId>,
    /// The reason.
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

/// Lists an endpoint's dead letters, oldest first; at most [`DEAD_LETTERS_MAX`].
#[derive(Clone, Copy, Debug)]
pub struct DeadLetters {
    /// The endpoint.
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

/// Counts a community's dead letters, of all endpoints.
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

/// Lists the deliveries that wait with one server, in all communities; those of an endpoint are in order. For a server
/// that starts, and never to be offered to anybody else.
#[derive(Clone, Debug)]
pub struct Undelivered {
    /// The server.
    pub holder: String,
    /// Also includes deliveries that other servers have held since before this moment: those servers did not return.
    pub abandoned_before: Moment,
    /// Only deliveries after this one.
    pub after: Option<(CommunityId, KeyId, DeliveryId)>,
}

impl Verb for Undelivered {
    /// A page; an empty one is the last.
    type Answer = Vec<(CommunityId, Delivery)>;
    const WRITES: bool = false;

    fn community(&self) -> Option<&CommunityId> {
        None
    }

    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        Ok(rows.undelivered(&self.holder, self.abandoned_before, self.after.as_ref(), PAGE_MAX)?)
    }
}
