//! Two communities that are identical down to the ids: the same people, rooms, conversations, sequence numbers, reports
//! and invitations, and devices with the same numbers. A request in one with such an id concerns that one only: nothing
//! of the other is returned, nobody in the other is notified, and nothing of it changes. Each event is sent on each
//! topic that accepts it, about a room and about a direct conversation; one that has no row in [`super::isolation`], or
//! does not reach the store and has no arm here, fails. So does an event that people are told of on their own topics and
//! that none of this provokes.

use super::isolation::{Known, ask_in, row};
use super::{EVENTS, EventRow, Surface};
use crate::audience::{DeviceId, Followed, Reading};
use crate::channels::connection::{Connection, Me};
use crate::channels::{person, room};
use crate::clock::now;
use crate::entrance::{AllowedRooms, Credentials};
use crate::fault::Fault;
use crate::messenger::Messenger;
use crate::scene::{self, RecordingOutlet, by, claims, id, run, somebody, token};
use crate::topics::{TOLD_TO_PEOPLE, person_topic};
use chat::rows::Record;
use chat::verbs::{
    Append, ChangeCommunity, CreateCommunity, CreateRoom, EditText, Export, Invite, Join, Leave, Meet,
    OpenDirect, ReadPerson, ReportMessage, Withdraw,
};
use chat::{By, Call, ConversationId, Draft, Entropy, Moment, Profile, Role, RoomName, Seq, Settings};
use gateway::{Micros, Payload};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The event that nothing here provokes: people are told to list their conversations again if a join missed too much, and
/// if the bus lost something, on topics that are found by community.
const UNPROVOKED: &str = "conversations:changed";

/// The text that marks everything in a community.
fn mark(community: &str) -> String {
    format!("of-{community}")
}

struct Twins {
    messenger: Messenger,
    told: RecordingOutlet,
    lobby: Known,
    direct: Known,
}

/// Creates one of them. The calls have the same times and entropy in both.
async fn make(messenger: &Messenger, community: &str, begun: Moment) -> [Known; 2] {
    let (own, mark) = (id(community), mark(community));
    let mut step = 0;
    let mut call = |by: By| {
        step += 1;
        let (now, entropy) = (begun.after_ms(step.into()), Entropy([step; 16]));
        Call { community: own.clone(), by, now, entropy }
    };
    let create = CreateCommunity { settings: Settings::named(&mark) };
    messenger.perform(call(By::Service).ask(create)).await.expect("a community");
    let name = RoomName::parse("lobby").expect("a name");
    let create = CreateRoom::public(name.clone(), &mark);
    let lobby = messenger.perform(call(By::Service).ask(create)).await.expect("a room");
    let meet = |who: &str, role| Meet {
        profile: Profile { name: format!("{who} {mark}"), avatar: None, guest: false, role },
    };
    for who in ["ann", "bob"] {
        messenger.perform(call(by(who)).ask(meet(who, None))).await.expect("somebody");
        let join = Join { conversation: lobby.id, invitation: None };
        messenger.perform(call(by(who)).ask(join)).await.expect("a member");
    }
    // So that owners-only requests are answered, too.
    messenger.perform(call(by("ann")).ask(meet("ann", Some(Role::Owner)))).await.expect("an owner");
    let open = OpenDirect { with: somebody("bob") };
    let direct = messenger.perform(call(by("ann")).ask(open)).await.expect("a conversation");
    let invite = Invite { conversation: lobby.id, person: None, until: None, uses: 9 };
    let invitation = messenger.perform(call(by("ann")).ask(invite)).await.expect("one").invitation.id;
    let mut known = Vec::new();
    for conversation in [&lobby, &direct] {
        let draft = Draft::text(None, &format!("a secret {mark}"));
        let said = Append { conversation: conversation.id, draft };
        messenger.perform(call(by("bob")).ask(said)).await.expect("a message");
        let report = ReportMessage { conversation: conversation.id, seq: Seq(1), reason: mark.clone() };
        let report = messenger.perform(call(by("ann")).ask(report)).await.expect("a report").report.id;
        known.push(Known { conversation: conversation.clone(), invitation, report });
    }
    let audience = &messenger.inner.audience;
    let followed = [Followed::of(&lobby), Followed::of(&direct)];
    for (who, device) in [("ann", DeviceId(7)), ("bob", DeviceId(8))] {
        assert!(audience.arrive(&own, &somebody(who), device).is_ok());
        audience.follow_all(&own, &somebody(who), Reading { followed: &followed, gone: &[] });
        audience.open_room(&own, lobby.id, &name, &somebody(who), device);
    }
    known.try_into().unwrap_or_else(|_| panic!("two conversations"))
}

impl Twins {
    async fn begin() -> Self {
        let (messenger, told) = scene::messenger();
        let begun = Moment::from_millis(now().millis() - 1_000);
        let [lobby, direct] = make(&messenger, "one", begun).await;
        let of_two = make(&messenger, "two", begun).await;
        for (one, two) in [(&lobby, &of_two[0]), (&direct, &of_two[1])] {
            assert_eq!(one.conversation.id, two.conversation.id);
            assert_eq!((one.invitation, one.report), (two.invitation, two.report));
        }
        for community in ["one", "two"] {
            scene::trust_site(&messenger, community).await;
        }
        Self { messenger, told, lobby, direct }
    }

    async fn ann_of(&self, community: &str) -> Arc<Me> {
        let ann = ReadPerson { person: somebody("ann") };
        let ann = self.messenger.ask(&id(community), by("ann"), ann).await.expect("Ann");
        Me::somebody(&id(community), ann, AllowedRooms::ALL)
    }

    /// Returns everything of the other community: its rows, who is where, and what is read of it from now on.
    async fn other(&self) -> (Vec<Record>, Vec<bool>, Vec<Value>) {
        let (two, audience) = (id("two"), &self.messenger.inner.audience);
        let (mut records, mut after) = (Vec::new(), None);
        loop {
            let export = Export { person: None, after };
            let part = self.messenger.ask(&two, By::Service, export).await.expect("an export");
            records.extend(part.records);
            after = part.next;
            if after.is_none() {
                break;
            }
        }
        let me = self.ann_of("two").await;
        let (mut places, mut read) = (Vec::new(), Vec::new());
        for conversation in [&self.lobby, &self.direct].map(|known| known.conversation.id) {
            for (who, device) in [("ann", DeviceId(7)), ("bob", DeviceId(8))] {
                places.push(audience.is_in(&two, conversation, &somebody(who)));
                places.push(audience.is_evicted(&two, conversation, device));
            }
            let newest = self.messenger.newest(&two, conversation, me.id()).await.expect("a page");
            read.push(json!([newest.conversation, newest.messages]));
            for event in ["history", "members"] {
                let payload = json!({ "conversation": conversation });
                read.push(ask_in(&self.messenger, &me, None, event, &payload).await.expect("an answer"));
            }
        }
        (records, places, read)
    }

    /// Sends an event that reaches the store.
    async fn ask(&self, event: &str, known: &Known, room: Option<ConversationId>) -> Result<Value, Fault> {
        let (payload, _) = row(event, known).expect("it goes to the store");
        ask_in(&self.messenger, &self.ann_of("one").await, room, event, &payload).await
    }

    /// Does what channels handle themselves, as Ann of `one` on that topic.
    async fn pass(&self, event: &str, known: &Known, room: Option<ConversationId>) -> Result<Value, Fault> {
        const NOW: Micros = Micros(0);
        let own = id("one");
        let shown = Some(token(&claims("one", "ann")));
        let credentials = Credentials { community: own.clone(), token: shown, name: None };
        let connection = Arc::new(Connection::new(self.messenger.clone(), credentials, None, None));
        let payload = json!({ "conversation": known.conversation.id }).to_string();
        if room.is_some() {
            let name = RoomName::parse("lobby").expect("a name");
            let (mut joined, reply) =
                room::enter(connection.clone(), name, room::JoinRequest::default()).await?;
            assert_eq!(event, "typing", "the event `{event}` has no arm here");
            let told = joined.types(Payload::Json(&payload), NOW)?;
            return Ok(json!([reply, told.expect("it is the first")]));
        }
        let (mut joined, reply) =
            person::enter(connection.clone(), &person_topic(&own, &somebody("ann")), "ann").await?;
        let answer = match event {
            "typing" => joined.types(Payload::Json(&payload), NOW)?,
            "status" => joined.status(Payload::Json(&json!({"status": "invisible"}).to_string()))?,
            "token:refresh" => {
                let refused = connection.refresh(token(&claims("two", "ann"))).await;
                assert_eq!(refused.map_err(|fault| fault.code), Err("token_invalid"));
                connection.refresh(token(&claims("one", "ann"))).await?
            }
            other => panic!("the event `{other}` has no arm here"),
        };
        Ok(json!([reply, answer]))
    }

    /// The request was understood, and its answer is of `one` only. Returns the events that were told of.
    fn check(&self, event: &str, outcome: &Result<Value, Fault>) -> BTreeSet<String> {
        let not_asked = ["bad_payload", "unknown_event"];
        assert!(
            outcome.as_ref().err().is_none_or(|fault| !not_asked.contains(&fault.code)),
            "{event}: {outcome:?}"
        );
        let text = outcome.as_ref().map_or_else(|fault| fault.json().to_string(), Value::to_string);
        assert!(!text.contains(&mark("two")), "{event}: {text}");
        self.check_told(event)
    }

    /// Whatever was told because of this was told in `one` only. Returns the events.
    fn check_told(&self, why: &str) -> BTreeSet<String> {
        let mut events = BTreeSet::new();
        for (topic, event, payload) in self.told.take() {
            assert!(topic.contains(":one/"), "{why} told {topic} of {event}");
            assert!(!payload.contains(&mark("two")), "{why} told {topic} of {event}: {payload}");
            events.insert(event);
        }
        events
    }

    /// What happens in `one` without a client's request.
    async fn happen(&self) {
        let (one, messenger, here) = (id("one"), &self.messenger, self.lobby.conversation.id);
        let profile = Profile { name: "Bobby".into(), avatar: None, guest: false, role: None };
        messenger.ask(&one, by("bob"), Meet { profile }).await.expect("another name");
        let edit = EditText { conversation: here, seq: Seq(1), text: "else".into(), mentions: Vec::new() };
        messenger.ask(&one, by("bob"), edit).await.expect("it is his");
        messenger.ask(&one, by("bob"), Leave { conversation: here }).await.expect("he goes");
        messenger
            .ask(&one, by("bob"), Join { conversation: here, invitation: None })
            .await
            .expect("he comes");
        let invite = Invite { conversation: here, person: Some(somebody("bob")), until: None, uses: 1 };
        let invitation = messenger.ask(&one, by("ann"), invite).await.expect("she may").invitation.id;
        messenger.ask(&one, by("ann"), Withdraw { invitation }).await.expect("hers");
        messenger.look(&one).await.expect("it is there");
        let settings = Settings::named("Another name");
        messenger.ask(&one, By::Service, ChangeCommunity { settings }).await.expect("a key may");
        messenger.catch_up().await;
    }
}

/// Sends an event about what the twins have in common, each time in a new pair.
/// Returns the events that were told of.
async fn check_alike(row: &EventRow, pick: fn(&Twins) -> &Known, on_room: bool) -> BTreeSet<String> {
    let twins = Twins::begin().await;
    let known = pick(&twins);
    let room = on_room.then_some(known.conversation.id);
    let before = twins.other().await;
    twins.told.take();
    let outcome = match row.ask {
        Some(_) => twins.ask(row.event, known, room).await,
        None => twins.pass(row.event, known, room).await,
    };
    let told = twins.check(row.event, &outcome);
    assert!(twins.other().await == before, "{} changed the other community", row.event);
    told
}

#[test]
fn in_communities_with_the_same_ids_nothing_that_is_asked_or_told_in_one_reaches_the_other() {
    run(async {
        let mut told = BTreeSet::new();
        for row in EVENTS {
            if row.surface.covers(Surface::Person) {
                told.append(&mut check_alike(row, |twins| &twins.lobby, false).await);
                told.append(&mut check_alike(row, |twins| &twins.direct, false).await);
            }
            if row.surface.covers(Surface::Room) {
                told.append(&mut check_alike(row, |twins| &twins.lobby, true).await);
            }
        }
        let twins = Twins::begin().await;
        let before = twins.other().await;
        twins.told.take();
        twins.happen().await;
        told.append(&mut twins.check_told("what happened"));
        assert!(twins.other().await == before, "what happened changed the other community");
        let untold: Vec<_> = TOLD_TO_PEOPLE.iter().filter(|event| !told.contains(**event)).collect();
        assert_eq!(untold, [&UNPROVOKED], "of {told:?}");
    });
}

/// Otherwise the test above would prove nothing.
#[test]
fn what_is_asked_by_the_same_ids_is_answered_of_ones_own_community() {
    run(async {
        let twins = Twins::begin().await;
        for event in ["history", "search", "reports", "conversations", "rooms", "profile"] {
            let answer = twins.ask(event, &twins.lobby, None).await.expect("an answer").to_string();
            assert!(answer.contains(&mark("one")), "{event}: {answer}");
        }
    });
}
