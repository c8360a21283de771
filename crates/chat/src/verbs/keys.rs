//! A community's keys. Secrets never reach this crate: only their hashes do.

use super::moderating::log;
use crate::access;
use crate::community::Key;
use crate::failure::Thing;
use crate::ids::KeyId;
use crate::limits::{KEYS_MAX, NAME_BYTES_MAX, NOTE_BYTES_MAX};
use crate::moderation::AuditAction;
use crate::permissions::{Action, Role};
use crate::problem::{Problem, Problems};
use crate::rows::{Rows, Target};
use crate::{Call, Command, Failure, Refusal, text};

/// Creates a key. For keys and owners of the whole community.
#[derive(Clone, Debug)]
pub struct CreateKey {
    /// The name that its owner gives it.
    pub name: String,
    /// See [`Key::purpose`]; its JSON may have up to eight times [`NOTE_BYTES_MAX`] bytes.
    pub purpose: serde_json::Value,
    /// See [`Key::hash`]: empty or 32 bytes.
    pub hash: Vec<u8>,
}

impl Command for CreateKey {
    type Answer = Key;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Key, Failure> {
        access::community(rows, call)?;
        access::community_role(rows, call, Role::Owner, Action::Administer)?;
        let mut problems = Problems::default();
        let name = problems.check("name", text::line(&self.name, NAME_BYTES_MAX)).unwrap_or_default();
        problems.require(self.purpose.to_string().len() <= 8 * NOTE_BYTES_MAX, "purpose", || {
            Problem::length(0, 8 * NOTE_BYTES_MAX, "bytes of JSON")
        });
        problems.require(matches!(self.hash.len(), 0 | 32), "hash", || {
            Problem::new("length", "must have 32 bytes or be empty")
        });
        let name = problems.or(name)?;
        make_room(rows, call)?;
        let key = Key {
            id: KeyId(call.id(0)),
            community: call.community.clone(),
            name,
            purpose: self.purpose.clone(),
            hash: self.hash.clone(),
            created: call.now,
            revoked: None,
        };
        rows.put(&call.community, &key.clone().into())?;
        log(rows, call, AuditAction::CreateKey, None)?;
        Ok(key)
    }
}

/// Makes room by removing the key that was revoked first; the audit log still records it.
fn make_room(rows: &mut dyn Rows, call: &Call) -> Result<(), Failure> {
    let keys = rows.keys(&call.community)?;
    if keys.len() < KEYS_MAX {
        return Ok(());
    }
    let oldest = keys.iter().filter_map(|key| Some((key.revoked?, key.id))).min();
    let Some((_, key)) = oldest else {
        return Err(Refusal::LimitReached { limit: "keys_max", max: KEYS_MAX as u64 }.into());
    };
    Ok(rows.remove(&call.community, &Target::Key(key))?)
}

/// Revokes a key permanently, and removes all deliveries and dead letters of the endpoint stored under it, if it is
/// one. For keys and owners of the whole community.
#[derive(Clone, Copy, Debug)]
pub struct RevokeKey {
    /// The key.
    pub key: KeyId,
}

impl Command for RevokeKey {
    type Answer = Key;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Key, Failure> {
        access::community_role(rows, call, Role::Owner, Action::Administer)?;
        let mut key = rows.key(&call.community, self.key)?.ok_or(Failure::Absent(Thing::Key))?;
        if key.revoked.is_none() {
            key.revoked = Some(call.now);
            rows.put(&call.community, &key.clone().into())?;
            rows.remove(&call.community, &Target::Deliveries { endpoint: key.id })?;
            log(rows, call, AuditAction::RevokeKey, None)?;
        }
        Ok(key)
    }
}

/// Lists all keys, including revoked ones. For keys and owners of the whole community.
#[derive(Clone, Copy, Debug)]
pub struct Keys;

impl Command for Keys {
    type Answer = Vec<Key>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Vec<Key>, Failure> {
        access::community_role(rows, call, Role::Owner, Action::Administer)?;
        Ok(rows.keys(&call.community)?)
    }
}

/// Returns a key by its id, for checking a request's credentials: comparing the hash is up to the caller.
#[derive(Clone, Copy, Debug)]
pub struct FindKey {
    /// The key.
    pub key: KeyId,
}

impl Command for FindKey {
    type Answer = Key;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Key, Failure> {
        let key = rows.key(&call.community, self.key)?;
        key.filter(|key| key.revoked.is_none()).ok_or(Failure::Absent(Thing::Key))
    }
}
