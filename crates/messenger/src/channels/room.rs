//! `room:COMMUNITY/ROOM`: one client in one room.
//!
//! The reply to a join has the newest messages, or those missed since `recover`. The page is read before the join is
//! accepted, and the topic is received from then on. When it is accepted, the room's head shows what was sent in
//! between, and that is pushed, so that no client has a gap.

use super::connection::{Connection, Me};
use super::payload::{read, refuse};
use super::request::{self, Asker};
use super::voice::Voice;
use super::waiting::Waiting;
use crate::audience::{Followed, Shown};
use crate::fault::{ErrorCode, Fault};
use crate::looks;
use crate::messenger::Messenger;
use crate::topics::{ROOM, parts};
use chat::limits::PAGE_MAX;
use chat::verbs::{Join, Page};
use chat::{ConversationId, Failure, InvitationId, Refusal, Revision, RoomName, Seq};
use gateway::{Channel, Context, Ended, Info, Joining, Micros, Payload, Task};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct RoomChannel {
    stands: Option<Stands>,
}

/// An accepted join.
pub(super) struct Stands {
    place: Place,
    rare: Option<Box<Rare>>,
}

/// What most joins do not need once they are accepted and as long as the client is silent.
#[derive(Default)]
struct Rare {
    voice: Voice,
    /// Until nothing can be missing between it and what the client receives.
    snapshot: Option<Snapshot>,
    /// Whether they are a visitor, not a member.
    visits: bool,
}

/// What the reply to the join showed the client, to be compared with the state when the join is accepted.
struct Snapshot {
    /// The last message of the page.
    last: Seq,
    /// The page's revision of edits, deletes and reactions.
    revision: Revision,
    /// The community's look.
    look: Arc<str>,
    /// The room's change counter.
    changes: u32,
    /// Who was present; `None` in a crowd, and for a visitor.
    shown: Option<Shown>,
}

/// A join's registration in an open room, removed when dropped.
struct Place {
    connection: Arc<Connection>,
    conversation: ConversationId,
}

impl Place {
    /// Registers the join. From here on the room's head is tracked: what is sent after this is on the page that is read
    /// next, or is detected by comparing with the head.
    fn take(connection: &Arc<Connection>, conversation: ConversationId, room: &RoomName, me: &Me) -> Self {
        let audience = &connection.messenger.inner.audience;
        audience.open_room(&connection.community, conversation, room, me.id(), connection.socket.0);
        Self { connection: connection.clone(), conversation }
    }

    fn messenger(&self) -> &Messenger {
        &self.connection.messenger
    }

    fn me(&self) -> &Me {
        self.connection.here()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let audience = &self.messenger().inner.audience;
        audience.close_room(&self.connection.community, self.conversation, self.connection.socket.0);
    }
}

/// The payload of a join.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct JoinRequest {
    /// Where the client stopped.
    recover: Option<Recover>,
    /// The invitation, for a room that requires one.
    invitation: Option<InvitationId>,
    /// Joins as a visitor, without becoming a member.
    visit: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recover {
    epoch: String,
    seq: Seq,
    /// The last known revision of edits, deletes and reactions.
    #[serde(default)]
    revision: Option<Revision>,
}

/// Results that arrive on the shard.
enum Brought {
    Join(Result<Box<(Stands, Value)>, Fault>),
    Missed(Result<Arc<Page>, Failure>),
    Changed(Result<Arc<Page>, Failure>),
    Conversation(Result<Arc<Page>, Failure>),
}

impl Channel for RoomChannel {
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        let Some(connection) = Connection::of(cx) else {
            return refuse(&Fault::new(ErrorCode::NoCommunity, "connect with the parameter `community`"));
        };
        let request = match read::<JoinRequest>(payload) {
            Ok(request) => request,
            Err(fault) => return refuse(&fault),
        };
        let room = parts(cx.topic(), ROOM).filter(|(community, _)| *community == connection.community);
        let Some(room) = room.and_then(|(_, room)| RoomName::parse(room).ok()) else {
            return refuse(&Fault::not_found());
        };
        Joining::Later(Task::future(async move {
            Brought::Join(enter(&connection, room, request).await.map(Box::new))
        }))
    }

    fn join_answered(&mut self, _: &mut Context<'_>, answer: Info) -> Joining {
        match answer.downcast::<Brought>().map(|brought| *brought) {
            Ok(Brought::Join(Ok(entered))) => {
                let (stands, response) = *entered;
                self.stands = Some(stands);
                Joining::Accept(response.into())
            }
            Ok(Brought::Join(Err(fault))) => refuse(&fault),
            Ok(Brought::Missed(_) | Brought::Changed(_) | Brought::Conversation(_)) | Err(_) => {
                refuse(&Fault::new(ErrorCode::Internal, "the join failed"))
            }
        }
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        let Some(stands) = &mut self.stands else { return };
        let Place { connection, conversation, .. } = &stands.place;
        let audience = &connection.messenger.inner.audience;
        if audience.is_evicted(&connection.community, *conversation, connection.socket.0) {
            return cx.stop();
        }
        let snapshot = stands.rare.as_deref_mut().and_then(|rare| rare.snapshot.as_mut());
        let Some(snapshot) = snapshot else { return };
        if let Some(newer) = audience.newer_look(&connection.community, &snapshot.look) {
            cx.push(looks::EVENT, Payload::Json(&newer));
        }
        let since = |shown| audience.present_since(&connection.community, *conversation, shown);
        for presence in snapshot.shown.take().map(since).unwrap_or_default() {
            cx.push("presence", json!(presence));
        }
        if audience.changes(&connection.community, *conversation) != snapshot.changes {
            stands.read_conversation(cx);
        }
        stands.read_what_came_meanwhile(cx);
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let Some(stands) = &mut self.stands else { return cx.fail() };
        if event == "typing" {
            let typed = stands.types(payload, cx.now());
            let answer =
                typed.map(|told| told.into_iter().for_each(|told| cx.broadcast_from("typing", told)));
            return Waiting::answer_now(cx, answer.map(|()| json!({})));
        }
        let said = stands.rare.get_or_insert_default().voice.said();
        if !said.waiting.has_room(cx) {
            return;
        }
        let asker = Asker {
            messenger: stands.place.messenger(),
            me: stands.place.me(),
            room: Some(stands.place.conversation),
            turns: &said.turns,
        };
        match request::answer(&asker, event, payload) {
            Ok(answer) => said.waiting.answer_later(cx, answer),
            Err(fault) => Waiting::answer_now(cx, Err(fault)),
        }
    }

    fn handle_info(&mut self, cx: &mut Context<'_>, info: Info) {
        let Some(stands) = &mut self.stands else { return };
        let settled = match &mut stands.rare {
            Some(rare) => rare.voice.settle(cx, info),
            None => Err(info),
        };
        let Err(info) = settled else { return };
        match info.downcast::<Brought>().map(|brought| *brought) {
            Ok(Brought::Missed(Ok(page))) => stands.push_missed(cx, &page),
            // Otherwise the client would have a gap: it joins again and recovers.
            Ok(Brought::Missed(Err(_)) | Brought::Changed(Err(_)) | Brought::Conversation(Err(_))) => {
                cx.fail()
            }
            Ok(Brought::Conversation(Ok(page))) => cx.push("conversation:changed", json!(page.conversation)),
            Ok(Brought::Changed(Ok(page))) => {
                for shown in &page.messages {
                    cx.push("msg:changed", json!(shown));
                }
            }
            Ok(Brought::Join(_)) | Err(_) => {}
        }
    }

    fn terminate(&mut self, _: &mut Context<'_>, _: Ended) {
        self.stands = None;
    }
}

impl Stands {
    /// Returns whether they are a member, not a visitor.
    fn speaks(&self) -> bool {
        self.rare.as_ref().is_none_or(|rare| !rare.visits)
    }

    /// Many that come back at once may have stopped at the same message, so these reads are shared.
    fn read_what_came_meanwhile(&mut self, cx: &mut Context<'_>) {
        let snapshot = self.rare.as_deref().and_then(|rare| rare.snapshot.as_ref());
        let Some(Snapshot { last, revision: since, .. }) = snapshot else { return };
        let (last, since) = (*last, *since);
        let (messenger, me) = (self.place.messenger(), self.place.me());
        let (audience, conversation) = (&messenger.inner.audience, self.place.conversation);
        let head = audience.head(&me.community, conversation);
        if head > last {
            let (messenger, me) = (messenger.clone(), me.clone());
            cx.spawn(Task::future(async move {
                let read = messenger.said_meanwhile(&me.community, conversation, me.id(), (last, head));
                Brought::Missed(read.await)
            }));
        }
        if audience.revision(&me.community, conversation) > since {
            let (messenger, me) = (messenger.clone(), me.clone());
            cx.spawn(Task::future(async move {
                let read = messenger.changed(&me.community, conversation, me.id(), since, PAGE_MAX);
                Brought::Changed(read.await)
            }));
        }
        if head <= last {
            self.forget_snapshot();
        }
    }

    /// Drops the snapshot, and frees the rare part if it is empty then.
    fn forget_snapshot(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.snapshot = None;
        }
        self.rare.take_if(|rare| rare.voice.is_silent() && !rare.visits);
    }

    /// The room's title, topic text or rules differ from what the client was shown.
    fn read_conversation(&self, cx: &mut Context<'_>) {
        let (messenger, me, conversation) =
            (self.place.messenger().clone(), self.place.me().clone(), self.place.conversation);
        cx.spawn(Task::future(async move {
            Brought::Conversation(messenger.newest(&me.community, conversation, me.id()).await)
        }));
    }

    /// A message that arrives twice has the same sequence number, so the client can drop it.
    fn push_missed(&mut self, cx: &mut Context<'_>, page: &Page) {
        for shown in &page.messages {
            if let Some(snapshot) = self.rare.as_deref_mut().and_then(|rare| rare.snapshot.as_mut()) {
                snapshot.last = snapshot.last.max(shown.message.seq);
            }
            cx.push("msg:new", json!(shown));
        }
        if page.more {
            self.read_what_came_meanwhile(cx);
        } else {
            self.forget_snapshot();
        }
    }

    /// Returns the event for the others: none if it is too early, or from a visitor.
    pub(super) fn types(&mut self, payload: Payload<'_>, now: Micros) -> Result<Option<Value>, Fault> {
        let typing = read::<request::Typing>(payload)?;
        let passes =
            self.speaks() && self.rare.get_or_insert_default().voice.said().typing.passes(typing.on, now);
        Ok(passes.then(|| {
            json!({
                "conversation": self.place.conversation,
                "person": self.place.me().id(),
                "on": typing.on,
            })
        }))
    }
}

/// Admits a person to a room, and reads what they see first.
pub(super) async fn enter(
    connection: &Arc<Connection>,
    room: RoomName,
    request: JoinRequest,
) -> Result<(Stands, Value), Fault> {
    let (messenger, me) = (&connection.messenger, connection.me().await?);
    if !me.rooms.have(&room) {
        return Err(Fault::not_found());
    }
    let community = &connection.community;
    let conversation = messenger.room(community, &room).await?;
    // Before access is checked: an eviction from here on finds the pending join.
    let place = Place::take(connection, conversation, &room, me);
    let changes = messenger.inner.audience.changes(community, conversation);
    messenger.permit_join(community, me.id(), conversation).await?;
    become_member(messenger, me, conversation, &request).await?;
    let standing = messenger.standing(community, conversation, me.id()).await?;
    let seen = Seen::read(messenger, me, conversation, request.recover).await?;
    let (shown, look) = messenger.look(community).await?;
    let audience = &messenger.inner.audience;
    // From here on it is known how far those who have it open were notified.
    let read = &seen.page.conversation;
    audience.note_heads(community, &[(conversation, read.last)]);
    audience.note_revision(community, conversation, read.revision);
    let speaks = standing.member.is_some();
    if speaks {
        // They may not have followed it when they came online, because of a ban that has ended since.
        let followed = Followed::of(read);
        for announcement in audience.follow_joined(community, me.id(), &followed, connection.socket.0) {
            messenger.inner.here().announce(&announcement);
        }
    }
    // A visitor shares no conversation with the members.
    let presence = speaks.then(|| audience.present_in(community, conversation));
    let listed = presence.as_ref().and_then(|(_, people)| people.as_deref()).map(Shown::of);
    if !speaks {
        audience.visit(community, conversation, connection.socket.0);
    }
    let page = &seen.page;
    let response = json!({
        "me": me.json(),
        "community": shown,
        "epoch": messenger.epoch(),
        "conversation": page.conversation,
        "member": standing.member.as_ref().map(|part| part.member(conversation, me.id().clone())),
        "messages": page.messages,
        "more": page.more,
        "recovered": seen.recovered,
        "reason": seen.reason,
        "changed": seen.changed,
        "presence": presence.map(|(count, people)| json!({ "count": count, "people": people })),
    });
    let (last, revision) = (page.conversation.last, page.conversation.revision);
    let snapshot = Some(Snapshot { last, revision, look, changes, shown: listed });
    let rare = Some(Box::new(Rare { voice: Voice::default(), snapshot, visits: !speaks }));
    Ok((Stands { place, rare }, response))
}

/// Makes a person a member if they may become one by joining, unless they join as a visitor.
async fn become_member(
    messenger: &Messenger,
    me: &Me,
    conversation: ConversationId,
    request: &JoinRequest,
) -> Result<(), Fault> {
    let standing = messenger.standing(&me.community, conversation, me.id()).await;
    match standing {
        Ok(standing) if standing.member.is_some() || request.visit => return Ok(()),
        Ok(_) => {}
        Err(Failure::Absent(_) | Failure::Refused(Refusal::NotPermitted(_))) if !request.visit => {}
        Err(failure) => return Err(failure.into()),
    }
    let join = Join { conversation, invitation: request.invitation };
    Ok(messenger.ask(&me.community, me.by(), join).await.map(drop)?)
}

/// What a client sees first.
struct Seen {
    page: Arc<Page>,
    /// Whether the page is everything that was missed; `None` if recovery was not requested.
    recovered: Option<bool>,
    reason: Option<&'static str>,
    /// Messages that were edited, deleted or reacted to meanwhile.
    changed: Vec<chat::Shown>,
}

impl Seen {
    async fn read(
        messenger: &Messenger,
        me: &Me,
        conversation: ConversationId,
        recover: Option<Recover>,
    ) -> Result<Self, Failure> {
        let newest = || messenger.newest(&me.community, conversation, me.id());
        let whole = |page, recovered, reason| Self { page, recovered, reason, changed: Vec::new() };
        let Some(recover) = recover else { return Ok(whole(newest().await?, None, None)) };
        if recover.epoch != messenger.epoch() {
            return Ok(whole(newest().await?, Some(false), Some("epoch")));
        }
        let missed = messenger.missed(&me.community, conversation, me.id(), recover.seq).await?;
        let conversation_now = &missed.conversation;
        if recover.seq > conversation_now.last {
            return Ok(whole(newest().await?, Some(false), Some("epoch")));
        }
        if recover.seq.next() < conversation_now.first {
            return Ok(whole(newest().await?, Some(false), Some("too_old")));
        }
        if missed.more {
            return Ok(whole(newest().await?, Some(false), Some("too_many")));
        }
        let Some(since) = recover.revision.filter(|known| *known < conversation_now.revision) else {
            return Ok(whole(missed, Some(true), None));
        };
        let changed = messenger.changed_while_away(&me.community, conversation, me.id(), since).await?;
        if changed.more {
            return Ok(whole(newest().await?, Some(false), Some("too_many")));
        }
        Ok(Self { page: missed, recovered: Some(true), reason: None, changed: changed.messages.clone() })
    }
}

#[cfg(test)]
mod recovering;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entrance::Credentials;
    use crate::scene::{self, claims, id, run, somebody, token};
    use chat::verbs::{ChangeCommunity, ChangeRoom};
    use chat::{By, CommunityLimits, Kind, Settings};

    async fn in_lobby(messenger: &Messenger, person: &str) -> Stands {
        come_into_lobby(messenger, person).await.expect("they may come in")
    }

    async fn come_into_lobby(messenger: &Messenger, person: &str) -> Result<Stands, Fault> {
        Ok(come(messenger, &claims("one", person), JoinRequest::default()).await?.0)
    }

    /// Joins the lobby, on a connection without other topics.
    async fn come(
        messenger: &Messenger,
        said: &Value,
        request: JoinRequest,
    ) -> Result<(Stands, Value), Fault> {
        let credentials = Credentials { community: id("one"), token: Some(token(said)), name: None };
        let connection = Arc::new(Connection::new(messenger.clone(), credentials, None, None));
        let room = RoomName::parse("lobby").expect("a name");
        enter(&connection, room, request).await
    }

    /// A community with a limit of people online.
    async fn bounded(people_online: u32) -> (Messenger, Arc<scene::Held>) {
        let (messenger, held) = scene::holding();
        scene::community(&messenger, "one").await;
        scene::trust_site(&messenger, "one").await;
        let limits = CommunityLimits { people_online: Some(people_online), ..CommunityLimits::default() };
        let settings = Settings { limits, ..Settings::named("One") };
        messenger.ask(&id("one"), By::Service, ChangeCommunity { settings }).await.expect("changed");
        (messenger, held)
    }

    #[test]
    fn a_join_of_a_room_stays_within_its_bytes() {
        assert!(size_of::<RoomChannel>() <= 32, "{} bytes", size_of::<RoomChannel>());
    }

    #[test]
    fn who_only_has_rooms_open_takes_a_place_until_their_last_connection_is_gone() {
        run(async {
            let (messenger, _) = bounded(1).await;
            let first = in_lobby(&messenger, "ann").await;
            let second = in_lobby(&messenger, "ann").await;
            let refused = come_into_lobby(&messenger, "bob").await.err().expect("there is no place");
            assert_eq!((refused.code, &refused.details["max"]), ("community_full", &json!(1)));
            drop(first);
            let refused = come_into_lobby(&messenger, "bob").await.err().map(|fault| fault.code);
            assert_eq!(refused, Some("community_full"), "Ann has another device");
            drop(second);
            drop(in_lobby(&messenger, "bob").await);
            drop(in_lobby(&messenger, "cat").await);
        });
    }

    #[test]
    fn of_those_who_come_at_once_no_more_come_in_than_there_are_places() {
        run(async {
            let (messenger, held) = bounded(3).await;
            drop(in_lobby(&messenger, "ann").await);
            held.hold();
            let come = |person| come_into_lobby(&messenger, person);
            let (bob, cat, dan, eve, ()) =
                tokio::join!(come("bob"), come("cat"), come("dan"), come("eve"), async {
                    assert_eq!(held.count(), 4, "there was a place for each when they were asked about");
                    held.commit();
                });
            let came = [&bob, &cat, &dan, &eve];
            let refused: Vec<&str> =
                came.iter().filter_map(|came| came.as_ref().err()).map(|fault| fault.code).collect();
            assert_eq!(refused, ["community_full"]);
            drop((bob, cat, dan, eve));
            drop(in_lobby(&messenger, "fay").await);
        });
    }

    #[test]
    fn who_has_a_role_in_the_community_comes_into_each_room_as_a_member_and_looks_as_a_visitor() {
        run(async {
            for (role, kind) in ["moderator", "owner"]
                .into_iter()
                .flat_map(|role| [Kind::Public, Kind::Members, Kind::Private].map(|kind| (role, kind)))
            {
                let (messenger, _) = scene::messenger();
                let lobby = scene::community(&messenger, "one").await.id;
                scene::trust_site(&messenger, "one").await;
                let change = ChangeRoom { kind: Some(kind), ..ChangeRoom::of(lobby) };
                messenger.ask(&id("one"), By::Service, change).await.expect("a key may");
                let mut said = claims("one", "ann");
                said["roles"] = json!([role]);
                let visit = JoinRequest { visit: true, ..JoinRequest::default() };
                let (looks, seen) = come(&messenger, &said, visit).await.expect("they may look");
                assert_eq!((looks.speaks(), &seen["member"]), (false, &Value::Null), "{role} in {kind:?}");
                let (stands, seen) =
                    come(&messenger, &said, JoinRequest::default()).await.expect("and come in");
                let who = &seen["member"];
                assert_eq!((&who["person"], &who["role"]), (&json!("ann"), &json!("member")), "{kind:?}");
                assert!(stands.speaks() && seen["presence"].is_object(), "{role} in {kind:?}: {seen}");
                assert_eq!(seen["conversation"]["members"], 1, "{role} in {kind:?}");
            }
        });
    }

    #[test]
    fn who_opens_a_room_that_they_are_in_follows_it_whatever_kept_them_from_it_before() {
        run(async {
            let (messenger, _) = scene::messenger();
            let lobby = scene::community(&messenger, "one").await;
            scene::trust_site(&messenger, "one").await;
            scene::person(&messenger, "one", "ann", &lobby).await;
            let (audience, one, ann) = (&messenger.inner.audience, id("one"), somebody("ann"));
            // Her device connected while she was banned.
            audience.arrive(&one, &ann, crate::audience::DeviceId(99)).expect("there is room");
            assert!(!audience.is_in(&one, lobby.id, &ann));
            let _stands = in_lobby(&messenger, "ann").await;
            assert!(audience.is_in(&one, lobby.id, &ann));
        });
    }
}
