//! One-line texts for news.

use crate::chat::messenger::client::Client;
use crate::chat::messenger::news::Change;
use crate::chat::messenger::payload::Message;
use crate::live::figures::one_line;

/// Returns a message's text for display; a deleted message is marked as such.
pub(super) fn body(message: &Message) -> String {
    if message.is_deleted {
        return "(deleted)".into();
    }
    let mut body = one_line(&message.text);
    if message.attachments > 0 {
        body += &format!(" [attachments: {}]", message.attachments);
    }
    body
}

/// Returns the suffix of a message: whether it was edited, and its reactions.
pub(super) fn marks(message: &Message) -> String {
    let mut marks = String::new();
    if message.is_edited && !message.is_deleted {
        marks += " (edited)";
    }
    for reaction in message.reactions.iter().flatten().filter(|reaction| reaction.count > 0) {
        marks += &format!(" {}{}", one_line(&reaction.emoji), reaction.count);
    }
    marks
}

/// Describes a change to a message.
pub(super) fn change(client: &Client, message: &Message, change: &Change) -> String {
    let name = |person: &str| one_line(client.people.name(person));
    let seq = message.seq;
    match change {
        Change::Edited => format!("{} edited #{seq}: {}", name(&message.sender), body(message)),
        Change::Deleted => format!("#{seq} of {} was deleted", name(&message.sender)),
        Change::Reacted { person, emoji, on: true } => {
            format!("{} reacted to #{seq} with {}", name(person), one_line(emoji))
        }
        Change::Reacted { person, emoji, on: false } => {
            format!("{} removed {} from #{seq}", name(person), one_line(emoji))
        }
        Change::Meanwhile => {
            format!("#{seq} of {} is now: {}{}", name(&message.sender), body(message), marks(message))
        }
    }
}

/// Describes a change of membership.
pub(super) fn member(client: &Client, conversation: &str, person: &str, is_in: bool) -> String {
    let (name, place) = (one_line(client.people.name(person)), one_line(&client.label(conversation)));
    let what = if is_in { "joined" } else { "left" };
    format!("{name} {what} {place}")
}

/// Describes what failed, and why.
pub(super) fn refusal(what: &str, reason: &str) -> String {
    if what.is_empty() {
        one_line(reason)
    } else {
        format!("failed: {}: {}", one_line(what), one_line(reason))
    }
}
