//! The truth about messages: who sent what, and what was acknowledged. The disk tells what is stored.

use super::disk::Disk;
use crate::oracle::{Checked, violated};
use chat::ConversationId;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Ledger {
    pub(super) disk: Disk,
    pub(super) rooms: Vec<ConversationId>,
    /// The room of each message that was ever sent, by its client id, which is also its text.
    sent: BTreeMap<String, usize>,
    /// The sequence numbers of those that were acknowledged.
    acknowledged: BTreeMap<String, u64>,
    /// The newest of them in each room.
    newest: Vec<u64>,
}

impl Ledger {
    pub(super) fn new(disk: Disk, rooms: Vec<ConversationId>) -> Ledger {
        let newest = vec![0; rooms.len()];
        Ledger { disk, rooms, sent: BTreeMap::new(), acknowledged: BTreeMap::new(), newest }
    }

    pub(super) fn sent(&mut self, room: usize, client_id: &str) {
        self.sent.insert(client_id.to_owned(), room);
    }

    /// Returns the newest sequence number in a room that was acknowledged to anybody.
    pub(super) fn newest_acknowledged(&self, room: usize) -> u64 {
        self.newest[room]
    }

    /// Checks a message that a client was given: it must be stored by now, unchanged. Returns its sequence number.
    pub(super) fn told(&self, room: usize, message: &Value) -> Checked<u64> {
        let (seq, text) = (message["seq"].as_u64().unwrap_or_default(), &message["text"]);
        let Some(stored) = self.disk.message(self.rooms[room], seq) else {
            return violated(format!("{text} at {seq} of room {room} was told, and is not stored"));
        };
        let same = *text == stored.text && message["id"] == stored.id.to_string();
        match same && self.sent.get(&stored.text) == Some(&room) {
            true => Ok(seq),
            false => {
                violated(format!("{text} was told at {seq} of room {room}, where {} stands", stored.text))
            }
        }
    }

    /// Checks an acknowledgement: the message must be stored.
    pub(super) fn acknowledged(&mut self, room: usize, client_id: &str, seq: u64) -> Checked {
        let stored = self.disk.message(self.rooms[room], seq);
        if stored.is_none_or(|stored| stored.client_id.as_str() != client_id) {
            return violated(format!("{client_id} was acknowledged at {seq}, and does not stand there"));
        }
        self.newest[room] = self.newest[room].max(seq);
        match self.acknowledged.insert(client_id.to_owned(), seq) {
            Some(earlier) if earlier != seq => {
                violated(format!("{client_id} was acknowledged at {earlier}, and again at {seq}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that everything acknowledged is where it was, that everything is stored once, and that there is no gap.
    pub(super) fn check(&self) -> Checked {
        let mut stored = BTreeSet::new();
        for (room, &id) in self.rooms.iter().enumerate() {
            for seq in 1..=self.disk.last(id) {
                let Some(message) = self.disk.message(id, seq) else {
                    return violated(format!("nothing stands at {seq} of room {room}"));
                };
                if !stored.insert(message.text.clone()) {
                    return violated(format!("{} stands twice", message.text));
                }
            }
        }
        for (client_id, &seq) in &self.acknowledged {
            let Some(&room) = self.sent.get(client_id) else {
                return violated(format!("nobody sent {client_id}"));
            };
            let there = self.disk.message(self.rooms[room], seq);
            if there.is_none_or(|message| message.client_id.as_str() != client_id) {
                return violated(format!("{client_id} was acknowledged at {seq}, and does not stand there"));
            }
        }
        Ok(())
    }
}
