//! What happened, in a line of words.

use crate::chat::messenger::client::Client;
use crate::chat::messenger::news::Change;
use crate::chat::messenger::payload::Message;
use crate::live::figures::one_line;

/// What a message says; what is gone is said so.
pub(super) fn body(message: &Message) -> String {
    if message.is_deleted {
        return "(deleted)".into();
    }
    let mut body = one_line(&message.text);
    if message.attachments > 0 {
        body += &format!(" [{} attached]", message.attachments);
    }
    body
}

/// What stands behind a message: that it was edited, and what people think of it.
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

/// What became of a message.
pub(super) fn change(client: &Client, message: &Message, change: &Change) -> String {
    let name = |person: &str| one_line(client.people.name(person));
    let seq = message.seq;
    match change {
        Change::Edited => format!("{} changed #{seq}: {}", name(&message.sender), body(message)),
        Change::Deleted => format!("#{seq} of {} was deleted", name(&message.sender)),
        Change::Reacted { person, emoji, on: true } => {
            format!("{} gave #{seq} {}", name(person), one_line(emoji))
        }
        Change::Reacted { person, emoji, on: false } => {
            format!("{} took {} from #{seq}", name(person), one_line(emoji))
        }
        Change::Meanwhile => {
            format!("#{seq} of {} is now: {}{}", name(&message.sender), body(message), marks(message))
        }
    }
}

/// That somebody is a member, or no more.
pub(super) fn member(client: &Client, conversation: &str, person: &str, is_in: bool) -> String {
    let (name, place) = (one_line(client.people.name(person)), one_line(&client.label(conversation)));
    let what = if is_in { "is a member of" } else { "is no member any more of" };
    format!("{name} {what} {place}")
}

/// What was not done, and why.
pub(super) fn refusal(what: &str, reason: &str) -> String {
    if what.is_empty() {
        one_line(reason)
    } else {
        format!("not done: {}: {}", one_line(what), one_line(reason))
    }
}
