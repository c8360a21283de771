//! A message was edited, deleted or reacted to: whoever follows the conversation sees it change.

use super::{Told, news};
use crate::audience::DoubtedChange;
use crate::bulletin::Bulletin;
use crate::witness::Happening;
use chat::verbs::{Changed, Delete, EditText, React};
use chat::{Asked, Message, PersonId, Tally};
use serde_json::{Value, json};

news! { EditText Delete React }

impl Told for EditText {
    fn told(asked: Asked<Self>, answer: &Changed, bulletin: &mut Bulletin<'_>) {
        changed(
            &asked,
            answer,
            "msg:edit",
            &Happening::Changed(&answer.message, &answer.reactions),
            bulletin,
        );
    }

    fn doubted(Asked { call, command }: Asked<Self>, bulletin: &mut Bulletin<'_>) {
        let change = DoubtedChange { seq: command.seq, reaction: None };
        bulletin.change_doubted(&call.community, command.conversation, &change);
    }
}

impl Told for Delete {
    fn told(asked: Asked<Self>, answer: &Changed, bulletin: &mut Bulletin<'_>) {
        changed(&asked, answer, "msg:delete", &Happening::Deleted(&answer.message), bulletin);
    }

    fn doubted(Asked { call, command }: Asked<Self>, bulletin: &mut Bulletin<'_>) {
        let change = DoubtedChange { seq: command.seq, reaction: None };
        bulletin.change_doubted(&call.community, command.conversation, &change);
    }
}

impl Told for React {
    fn told(asked: Asked<Self>, answer: &Changed, bulletin: &mut Bulletin<'_>) {
        if !answer.changed {
            return;
        }
        bulletin.happened(&asked, &Happening::Changed(&answer.message, &answer.reactions));
        let (community, message) = (&asked.call.community, &answer.message);
        let Ok(emoji) = asked.command.normal_emoji() else { return };
        let payload = reacted(message, &answer.reactions, &asked.call.by.name(), &emoji, asked.command.on);
        bulletin.revised(community, message, "react", &payload.to_string());
    }

    fn doubted(Asked { call, command }: Asked<Self>, bulletin: &mut Bulletin<'_>) {
        // What breaks a rule is not stored.
        let Ok(emoji) = command.normal_emoji() else { return };
        let change = DoubtedChange { seq: command.seq, reaction: Some((call.by.name(), emoji)) };
        bulletin.change_doubted(&call.community, command.conversation, &change);
    }
}

/// What is told of a reaction. Whether one is one's own is different for each: who reacted is told instead.
pub(crate) fn reacted(
    message: &Message,
    reactions: &[Tally],
    person: &PersonId,
    emoji: &str,
    on: bool,
) -> Value {
    let tallies: Vec<_> =
        reactions.iter().map(|tally| json!({"emoji": tally.emoji, "count": tally.count})).collect();
    json!({
        "conversation": message.conversation,
        "seq": message.seq,
        "revision": message.revision,
        "person": person,
        "emoji": emoji,
        "on": on,
        "reactions": tallies,
    })
}

fn changed<C>(
    asked: &Asked<C>,
    answer: &Changed,
    event: &'static str,
    happening: &Happening<'_>,
    bulletin: &mut Bulletin<'_>,
) {
    if answer.changed {
        bulletin.happened(asked, happening);
        let payload = json!(answer.message).to_string();
        bulletin.revised(&asked.call.community, &answer.message, event, &payload);
    }
}
