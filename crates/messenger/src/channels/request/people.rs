//! People: their profiles, and blocking.

use super::{Answering, Asker, payload};
use crate::fault::Fault;
use chat::verbs::{BlockPerson, Blocks, ReadPerson, SetReceipts, UnblockPerson};
use chat::{Block, Person, PersonId};
use gateway::Payload;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Who {
    person: PersonId,
}

pub(super) fn profile(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Who { person } = payload(body)?;
    Ok(asker.ask(ReadPerson { person }, |person: Person| {
        // When they were last seen is presence's to answer.
        json!({ "person": person.id, "profile": person.profile })
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whose {
    people: Vec<PersonId>,
}

/// For those with whom one shares a conversation; others are left out.
pub(super) fn presence(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Whose { people } = payload(body)?;
    asker.require_all_rooms()?;
    let presences = asker.messenger.presences(&asker.me.community, asker.me.by(), people);
    Ok(Answering::of(async move { Ok(json!({ "people": presences.await? })) }))
}

pub(super) fn block(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Who { person } = payload(body)?;
    Ok(asker.ask(BlockPerson { person }, |block: Block| json!({ "person": block.person, "on": true })))
}

pub(super) fn unblock(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Who { person } = payload(body)?;
    let answer = json!({ "person": person, "on": false });
    Ok(asker.ask(UnblockPerson { person }, |()| answer))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

pub(super) fn blocks(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let Nothing {} = payload(body)?;
    Ok(asker.ask(Blocks, |blocks: Vec<Block>| {
        let people: Vec<&PersonId> = blocks.iter().map(|block| &block.person).collect();
        json!({ "people": people })
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiptsRequest {
    on: bool,
}

pub(super) fn set_receipts(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let ReceiptsRequest { on } = payload(body)?;
    Ok(asker.ask(SetReceipts { on }, |person: Person| json!({ "receipts": person.receipts })))
}
