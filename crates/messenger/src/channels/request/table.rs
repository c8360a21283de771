//! The table of events.

use super::{Answering, Asker, listing, messages, moderation, people, rooms};
use crate::fault::Fault;
use gateway::Payload;

/// Where an event is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// On the topics of rooms.
    Room,
    /// On the topics of people.
    Person,
    /// On both.
    Both,
}

impl Surface {
    pub(super) fn covers(self, here: Self) -> bool {
        self == Self::Both || self == here
    }
}

type Ask = fn(&Asker<'_>, Payload<'_>) -> Result<Answering, Fault>;

/// An event that clients may send.
#[derive(Clone, Copy, Debug)]
pub struct EventRow {
    /// Its name.
    pub event: &'static str,
    /// Where it is taken.
    pub surface: Surface,
    /// What asks it; none for those that never reach the store, which channels do themselves.
    pub(super) ask: Option<Ask>,
}

const fn row(event: &'static str, surface: Surface, ask: Ask) -> EventRow {
    EventRow { event, surface, ask: Some(ask) }
}

const fn passing(event: &'static str, surface: Surface) -> EventRow {
    EventRow { event, surface, ask: None }
}

/// All events that clients may send. Documentation and tests go through this table.
pub const EVENTS: &[EventRow] = &[
    row("msg:new", Surface::Both, messages::send),
    row("msg:edit", Surface::Both, messages::edit),
    row("msg:delete", Surface::Both, messages::delete),
    row("react", Surface::Both, messages::react),
    row("history", Surface::Both, messages::history),
    row("edits", Surface::Both, messages::edits),
    row("search", Surface::Both, messages::search),
    row("read", Surface::Both, messages::read),
    row("delivered", Surface::Both, messages::delivered),
    row("receipts", Surface::Both, messages::receipts),
    row("keep", Surface::Both, messages::keep),
    row("members", Surface::Both, listing::members),
    row("invite", Surface::Both, rooms::invite),
    row("invitations", Surface::Both, rooms::invitations),
    row("invitation:withdraw", Surface::Both, rooms::withdraw),
    row("leave", Surface::Both, rooms::leave),
    row("conversation:change", Surface::Both, rooms::change),
    row("report", Surface::Both, moderation::report),
    row("reports", Surface::Both, moderation::reports),
    row("report:settle", Surface::Both, moderation::settle),
    row("sanction", Surface::Both, moderation::punish),
    row("sanction:lift", Surface::Both, moderation::lift),
    row("sanctions", Surface::Both, moderation::sanctions),
    row("member:remove", Surface::Both, moderation::remove),
    row("member:role", Surface::Both, moderation::role),
    row("audit", Surface::Both, moderation::audit),
    row("conversations", Surface::Person, listing::conversations),
    row("rooms", Surface::Person, listing::rooms),
    row("direct", Surface::Person, rooms::direct),
    row("group", Surface::Person, rooms::group),
    row("room:create", Surface::Person, rooms::create),
    row("join", Surface::Person, rooms::join),
    row("profile", Surface::Person, people::profile),
    row("presence", Surface::Person, people::presence),
    row("block", Surface::Person, people::block),
    row("unblock", Surface::Person, people::unblock),
    row("blocks", Surface::Person, people::blocks),
    row("receipts:set", Surface::Person, people::set_receipts),
    passing("typing", Surface::Both),
    passing("status", Surface::Person),
    passing("token:refresh", Surface::Person),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_event_stands_twice() {
        let names: HashSet<&str> = EVENTS.iter().map(|row| row.event).collect();
        assert_eq!(names.len(), EVENTS.len());
    }

    #[test]
    fn every_event_is_documented() {
        let document = include_str!("../../../../../docs/protocol.md");
        for row in EVENTS {
            assert!(
                document.contains(&format!("`{}`", row.event)),
                "{} is not in docs/protocol.md",
                row.event
            );
        }
    }
}
