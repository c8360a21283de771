//! A message was edited, deleted or reacted to: the conversation's followers see it change.

use super::{Told, news};
use crate::audience::DoubtedChange;
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{Changed, Delete, EditText, React};
use chat::{Asked, ConversationId, Message, PersonId, Revision, Seq, Tally};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

news! { EditText Delete React }

impl Told for EditText {
    fn told(asked: Asked<Self>, answer: &Changed, notices: &mut NoticeBatch<'_>) {
        changed(&asked, answer, "msg:edit", &Happening::Changed(&answer.message, &answer.reactions), notices);
    }

    fn doubted(Asked { call, command }: Asked<Self>, notices: &mut NoticeBatch<'_>) {
        let change = DoubtedChange { seq: command.seq, reaction: None };
        notices.change_doubted(&call.community, command.conversation, &change);
    }
}

impl Told for Delete {
    fn told(asked: Asked<Self>, answer: &Changed, notices: &mut NoticeBatch<'_>) {
        changed(&asked, answer, "msg:delete", &Happening::Deleted(&answer.message), notices);
    }

    fn doubted(Asked { call, command }: Asked<Self>, notices: &mut NoticeBatch<'_>) {
        let change = DoubtedChange { seq: command.seq, reaction: None };
        notices.change_doubted(&call.community, command.conversation, &change);
    }
}

impl Told for React {
    fn told(asked: Asked<Self>, answer: &Changed, notices: &mut NoticeBatch<'_>) {
        if !answer.changed {
            return;
        }
        notices.happened(&asked, &Happening::Changed(&answer.message, &answer.reactions));
        let (community, message) = (&asked.call.community, &answer.message);
        let Ok(emoji) = asked.command.normal_emoji() else { return };
        let (at, counts) = (ChangedAt::of(message), counts(&answer.reactions));
        let payload = reacted(at, &counts, &asked.call.by.name(), &emoji, asked.command.on);
        notices.revised(community, message, "react", &payload.to_string());
    }

    fn doubted(Asked { call, command }: Asked<Self>, notices: &mut NoticeBatch<'_>) {
        // A command that breaks a rule was not stored.
        let Ok(emoji) = command.normal_emoji() else { return };
        let change = DoubtedChange { seq: command.seq, reaction: Some((call.by.name(), emoji)) };
        notices.change_doubted(&call.community, command.conversation, &change);
    }
}

/// Which message changed, and its conversation's revision after that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ChangedAt {
    pub(crate) conversation: ConversationId,
    pub(crate) seq: Seq,
    pub(crate) revision: Revision,
}

impl ChangedAt {
    pub(crate) fn of(message: &Message) -> Self {
        Self { conversation: message.conversation, seq: message.seq, revision: message.revision }
    }
}

/// The count of each reaction, as everybody is sent it. Which are one's own differs for each person, so the person who
/// reacted is sent along.
pub(crate) fn counts(reactions: &[Tally]) -> Value {
    reactions.iter().map(|tally| json!({"emoji": tally.emoji, "count": tally.count})).collect()
}

/// The payload that announces a reaction.
pub(crate) fn reacted(
    ChangedAt { conversation, seq, revision }: ChangedAt,
    counts: &Value,
    person: &PersonId,
    emoji: &str,
    on: bool,
) -> Value {
    json!({
        "conversation": conversation,
        "seq": seq,
        "revision": revision,
        "person": person,
        "emoji": emoji,
        "on": on,
        "reactions": counts,
    })
}

fn changed<C>(
    asked: &Asked<C>,
    answer: &Changed,
    event: &'static str,
    happening: &Happening<'_>,
    notices: &mut NoticeBatch<'_>,
) {
    if answer.changed {
        notices.happened(asked, happening);
        let payload = json!(answer.message).to_string();
        notices.revised(&asked.call.community, &answer.message, event, &payload);
    }
}
