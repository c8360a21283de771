//! A person opened a conversation with others.

use super::{Told, news};
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{OpenDirect, OpenGroup};
use chat::{Asked, Conversation};

news! { OpenDirect OpenGroup }

impl Told for OpenDirect {
    fn told(asked: Asked<Self>, answer: &Conversation, notices: &mut NoticeBatch<'_>) {
        notices.opened(&asked.call.community, answer, &[asked.call.by.name(), asked.command.with]);
    }
}

impl Told for OpenGroup {
    fn told(asked: Asked<Self>, answer: &Conversation, notices: &mut NoticeBatch<'_>) {
        notices.happened(&asked, &Happening::Described(answer));
        let mut people = asked.command.with;
        people.push(asked.call.by.name());
        people.sort();
        people.dedup();
        notices.opened(&asked.call.community, answer, &people);
    }
}
