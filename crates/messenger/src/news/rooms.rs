//! A room was created or changed.

use super::{Told, news};
use crate::notice_batch::NoticeBatch;
use crate::witness::Happening;
use chat::verbs::{ChangeRoom, CreateRoom};
use chat::{Asked, By, Conversation};
use serde_json::json;

news! { CreateRoom ChangeRoom }

impl Told for CreateRoom {
    fn told(asked: Asked<Self>, answer: &Conversation, notices: &mut NoticeBatch<'_>) {
        notices.happened(&asked, &Happening::Described(answer));
        if let By::Person(owner) = &asked.call.by {
            notices.opened(&asked.call.community, answer, std::slice::from_ref(owner));
        }
    }
}

impl Told for ChangeRoom {
    fn told(asked: Asked<Self>, answer: &Conversation, notices: &mut NoticeBatch<'_>) {
        notices.happened(&asked, &Happening::Described(answer));
        let community = &asked.call.community;
        notices.changed(community, answer.id, "conversation:changed", &json!(answer).to_string());
        if asked.command.kind.is_some() {
            // Those who may no longer read it are evicted.
            notices.judge_again(community, answer.id);
        }
    }
}
