//! A message was edited, deleted or reacted to: whoever follows the conversation sees it change.

use super::{Told, news};
use crate::bulletin::Bulletin;
use crate::witness::Happening;
use chat::Asked;
use chat::verbs::{Changed, Delete, EditText, React};
use serde_json::json;

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
}

impl Told for Delete {
    fn told(asked: Asked<Self>, answer: &Changed, bulletin: &mut Bulletin<'_>) {
        changed(&asked, answer, "msg:delete", &Happening::Deleted(&answer.message), bulletin);
    }
}

impl Told for React {
    fn told(asked: Asked<Self>, answer: &Changed, bulletin: &mut Bulletin<'_>) {
        if !answer.changed {
            return;
        }
        bulletin.happened(&asked, &Happening::Changed(&answer.message, &answer.reactions));
        let (community, message) = (&asked.call.community, &answer.message);
        // Whether a reaction is one's own is different for each: who reacted is told instead.
        let tallies: Vec<_> = answer
            .reactions
            .iter()
            .map(|tally| json!({"emoji": tally.emoji, "count": tally.count}))
            .collect();
        let payload = json!({
            "conversation": message.conversation,
            "seq": message.seq,
            "revision": message.revision,
            "person": asked.call.by.name(),
            "emoji": asked.command.emoji,
            "on": asked.command.on,
            "reactions": tallies,
        });
        bulletin.revised(community, message, "react", &payload.to_string());
    }
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
