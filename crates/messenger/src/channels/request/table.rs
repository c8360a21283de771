//! The table of events.

use super::{Answering, Asker, listing, messages, moderation, people, rooms};
use crate::fault::Fault;
use gateway::Payload;

/// Which topics accept an event.
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
    /// Which topics accept it.
    pub surface: Surface,
    /// How many of its person's 6,000 units per minute it takes; none for a message, which counts against the
    /// community's `messages_per_minute` limit, and for `typing`, which is relayed at most once a second.
    pub cost: u32,
    /// The function that handles it; `None` for events that never reach the store, which channels handle themselves.
    pub(super) ask: Option<Ask>,
}

/// Limited in another way.
const FREE: u32 = 0;
/// Moving a cursor, which clients do with each message that they show.
const STEP: u32 = 1;
/// A page of rows, or a change that few are notified of.
const PAGE: u32 = 5;
/// What takes the store long, or many are notified of.
const DEAR: u32 = 20;
/// What creates something that others have to deal with.
const MAKING: u32 = 60;

const fn row(event: &'static str, surface: Surface, cost: u32, ask: Ask) -> EventRow {
    EventRow { event, surface, cost, ask: Some(ask) }
}

const fn passing(event: &'static str, surface: Surface, cost: u32) -> EventRow {
    EventRow { event, surface, cost, ask: None }
}

/// All events that clients may send. Documentation and tests use this table.
pub const EVENTS: &[EventRow] = &[
    row("msg:new", Surface::Both, FREE, messages::send),
    row("msg:edit", Surface::Both, FREE, messages::edit),
    row("msg:delete", Surface::Both, PAGE, messages::delete),
    row("react", Surface::Both, FREE, messages::react),
    row("history", Surface::Both, PAGE, messages::history),
    row("edits", Surface::Both, PAGE, messages::edits),
    row("search", Surface::Both, DEAR, messages::search),
    row("read", Surface::Both, STEP, messages::read),
    row("delivered", Surface::Both, STEP, messages::delivered),
    row("receipts", Surface::Both, PAGE, messages::receipts),
    row("keep", Surface::Both, PAGE, messages::keep),
    row("members", Surface::Both, PAGE, listing::members),
    row("invite", Surface::Both, MAKING, rooms::invite),
    row("invitations", Surface::Both, PAGE, rooms::invitations),
    row("invitation:withdraw", Surface::Both, PAGE, rooms::withdraw),
    row("leave", Surface::Both, DEAR, rooms::leave),
    row("conversation:change", Surface::Both, DEAR, rooms::change),
    row("report", Surface::Both, MAKING, moderation::report),
    row("reports", Surface::Both, PAGE, moderation::reports),
    row("report:settle", Surface::Both, PAGE, moderation::settle),
    row("sanction", Surface::Both, DEAR, moderation::punish),
    row("sanction:lift", Surface::Both, DEAR, moderation::lift),
    row("sanctions", Surface::Both, PAGE, moderation::sanctions),
    row("member:remove", Surface::Both, DEAR, moderation::remove),
    row("member:role", Surface::Both, DEAR, moderation::role),
    row("audit", Surface::Both, PAGE, moderation::audit),
    row("conversations", Surface::Person, PAGE, listing::conversations),
    row("rooms", Surface::Person, PAGE, listing::rooms),
    row("direct", Surface::Person, MAKING, rooms::direct),
    row("group", Surface::Person, MAKING, rooms::group),
    row("room:create", Surface::Person, MAKING, rooms::create),
    row("join", Surface::Person, DEAR, rooms::join),
    row("profile", Surface::Person, PAGE, people::profile),
    row("presence", Surface::Person, PAGE, people::presence),
    row("block", Surface::Person, PAGE, people::block),
    row("unblock", Surface::Person, PAGE, people::unblock),
    row("blocks", Surface::Person, PAGE, people::blocks),
    row("receipts:set", Surface::Person, PAGE, people::set_receipts),
    passing("typing", Surface::Both, FREE),
    passing("status", Surface::Person, PAGE),
    passing("token:refresh", Surface::Person, DEAR),
];

/// Returns the cost of an event that channels handle themselves.
pub(super) fn cost_of(event: &str) -> u32 {
    EVENTS.iter().find(|row| row.event == event).map_or(FREE, |row| row.cost)
}

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
    fn nothing_costs_more_than_there_is() {
        assert!(EVENTS.iter().all(|row| row.cost <= crate::limited::UNITS.burst));
    }
}
