//! Removal of records, with the rows that belong to them.

use super::mentions::forget_mentions;
use super::moderation::scope;
use super::place::{AT_PLACE, id, place};
use super::select::{Entity as _, Select};
use super::session::{Param, Session};
use chat::rows::{Found, Target};
use chat::{
    Audit, Block, Community, CommunityId, Conversation, Delivery, Edit, Invitation, Key, Member, Message,
    Person, Reaction, Report, Revocation, Sanction, UnfinishedErasure,
};
use std::slice;

/// See [`Rows::remove`](chat::Rows::remove).
pub(super) fn remove(session: &mut impl Session, community: &CommunityId, target: &Target) -> Found<()> {
    let of = Select::of(community);
    match target {
        Target::Community => of.delete(session, Community::TABLE),
        Target::Key(key) => of.and("t.id = ?", [Param::id(key.0)]).delete(session, Key::TABLE),
        Target::Person(person) => of.and("t.id = ?", [person.as_str().into()]).delete(session, Person::TABLE),
        Target::Block { by, person } => {
            let params = [by.as_str().into(), person.as_str().into()];
            of.and("t.by_person = ? AND t.person = ?", params).delete(session, Block::TABLE)
        }
        Target::Revocations { ended_before } => {
            let ended = of.and("t.ends_ms <= ?", [Param::number(ended_before.millis())]);
            ended.delete(session, Revocation::TABLE)
        }
        Target::Member { conversation, person } => {
            let params = [id(*conversation), person.as_str().into()];
            of.and("t.conversation = ? AND t.person = ?", params).delete(session, Member::TABLE)
        }
        Target::Conversation(conversation) => {
            of.and("t.id = ?", [id(*conversation)]).delete(session, Conversation::TABLE)
        }
        Target::UnfinishedErasure(conversation) => {
            of.and("t.conversation = ?", [id(*conversation)]).delete(session, UnfinishedErasure::TABLE)
        }
        Target::Invitation(invitation) => {
            of.and("t.id = ?", [Param::id(invitation.0)]).delete(session, Invitation::TABLE)
        }
        Target::Sanction { person, conversation, kind } => {
            let params = [person.as_str().into(), scope(*conversation), kind.name().into()];
            let condition = "t.person = ? AND t.conversation = ? AND t.kind = ?";
            of.and(condition, params).delete(session, Sanction::TABLE)
        }
        Target::Report(report) => of.and("t.id = ?", [Param::id(report.0)]).delete(session, Report::TABLE),
        Target::Audit(audit) => of.and("t.id = ?", [Param::id(audit.0)]).delete(session, Audit::TABLE),
        Target::Message(message) => remove_messages(session, community, slice::from_ref(message)),
        Target::Messages(messages) => remove_messages(session, community, messages),
        Target::Edits { conversation, seq } => {
            of.and(AT_PLACE, place(*conversation, *seq)).delete(session, Edit::TABLE)
        }
        Target::Reaction { conversation, seq, person, emoji } => {
            let own = [person.as_str().into(), emoji.as_str().into()];
            let reaction = of.and(AT_PLACE, place(*conversation, *seq));
            reaction.and("t.person = ? AND t.emoji = ?", own).delete(session, Reaction::TABLE)
        }
        Target::Delivery { endpoint, id } => {
            let params = [Param::id(endpoint.0), Param::id(id.0)];
            of.and("t.endpoint = ? AND t.id = ?", params).delete(session, Delivery::TABLE)
        }
        Target::Deliveries { endpoint } => {
            of.and("t.endpoint = ?", [Param::id(endpoint.0)]).delete(session, Delivery::TABLE)
        }
        Target::DeliveriesOf(person) => {
            of.and("t.person = ?", [person.as_str().into()]).delete(session, Delivery::TABLE)
        }
        Target::DeliveriesAbout(conversation) => {
            of.and("t.conversation = ?", [id(*conversation)]).delete(session, Delivery::TABLE)
        }
        Target::DeadLetters { given_up_before } => {
            let old = of.and("t.given_up_ms < ?", [Param::number(given_up_before.millis())]);
            old.delete(session, Delivery::TABLE)
        }
        Target::Reactions { conversation, seq } => {
            of.and(AT_PLACE, place(*conversation, *seq)).delete(session, Reaction::TABLE)
        }
    }
}

/// Removes adjacent messages of one conversation, with as many statements as for one, except for their words and
/// mentions.
fn remove_messages(session: &mut impl Session, community: &CommunityId, messages: &[Message]) -> Found<()> {
    let (Some(first), Some(last)) = (messages.first(), messages.last()) else { return Ok(()) };
    for message in messages {
        session.forget_words(community, message)?;
        forget_mentions(session, community, message)?;
    }
    for table in [Edit::TABLE, Reaction::TABLE, Message::TABLE] {
        let span = [id(first.conversation), Param::number(first.seq.0), Param::number(last.seq.0)];
        let these = Select::of(community).and("t.conversation = ? AND t.seq BETWEEN ? AND ?", span);
        these.delete(session, table)?;
    }
    Ok(())
}
