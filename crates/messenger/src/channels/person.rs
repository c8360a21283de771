//! `person:COMMUNITY/PERSON`: one device of a person.
//!
//! It carries everything that concerns them: their conversations, messages of those without a topic of their own,
//! cursors, invitations, and the presence of those with whom they share a conversation.

use super::connection::{Connection, Me};
use super::payload::{read, refuse};
use super::request::{self, Answering, Asker};
use super::sending::Sending;
use super::waiting::Waiting;
use super::within::Within;
use crate::audience::{Activity, Choice, DEVICES_MAX, Newer, Presence, Shown, ToldMeanwhile, TooMuchTold};
use crate::clock::now;
use crate::fault::{ErrorCode, Fault};
use crate::following::Theirs;
use crate::looks;
use crate::messenger::Messenger;
use crate::reading::PAGE;
use crate::topics::{PERSON, TOLD_TO_PEOPLE, parts};
use chat::limits::PAGE_MAX;
use chat::verbs::{Around, Invitations, Page, ReadPage};
use chat::{ConversationId, Failure, Invitation, Seq};
use gateway::{Channel, Context, Ended, Info, Joining, Micros, Payload, Task};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct PersonChannel {
    joined: Option<Joined>,
}

/// An accepted join.
pub(super) struct Joined {
    // First, so that a pending join ends before the device is removed.
    rare: Option<Box<Rare>>,
    device: Device,
}

/// What most joins do not need once they are accepted and as long as the client is silent.
#[derive(Default)]
struct Rare {
    sending: Sending,
    /// Set if the token is valid for some rooms only; otherwise everything is delivered.
    within: Option<Within>,
    /// Until the join is accepted.
    snapshot: Option<Snapshot>,
}

/// What the reply to the join showed the client, to be compared with the state when the join is accepted.
struct Snapshot {
    /// The conversations that were read, with their last messages.
    read: Box<[(ConversationId, Seq)]>,
    /// Who was present among those they share a conversation with.
    shown: Shown,
    /// The community's look.
    look: Arc<str>,
    undecided: Undecided,
}

/// A device of a person who is online; removed when dropped.
struct Device(Arc<Connection>);

impl Device {
    fn arrive(connection: &Arc<Connection>, me: &Me, topic: &Arc<str>) -> Result<(Self, Undecided), Fault> {
        let inner = &connection.messenger.inner;
        let arrived = inner.audience.arrive_on(topic, &me.community, me.id(), connection.socket.0);
        let announcement = arrived.map_err(|_| {
            Fault::new(ErrorCode::TooManyDevices, "too many devices of this person are connected")
                .with("max", DEVICES_MAX)
        })?;
        inner.here().announce(&announcement);
        Ok((Self(connection.clone()), Undecided(Some(connection.clone()))))
    }

    fn messenger(&self) -> &Messenger {
        &self.0.messenger
    }

    fn me(&self) -> &Me {
        self.0.here()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let (inner, me) = (&self.messenger().inner, self.me());
        let announcement = inner.audience.depart(&me.community, me.id(), self.0.socket.0, now());
        inner.here().announce(&announcement);
    }
}

/// A device's pending join. It ends when this is dropped.
struct Undecided(Option<Arc<Connection>>);

impl Undecided {
    /// The join is accepted: returns what its person's topic was sent before the device received it.
    fn accept(mut self) -> Result<ToldMeanwhile, TooMuchTold> {
        self.end()
    }

    fn end(&mut self) -> Result<ToldMeanwhile, TooMuchTold> {
        let Some(connection) = self.0.take() else { return Ok(ToldMeanwhile::new()) };
        let (audience, me) = (&connection.messenger.inner.audience, connection.here());
        audience.end_joining(&me.community, me.id(), connection.socket.0)
    }
}

impl Drop for Undecided {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Results that arrive on the shard.
enum Brought {
    Join(Result<Box<(Joined, Value)>, Fault>),
    Missed(Result<Page, Failure>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JoinRequest {}

/// A device's report of presence.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusRequest {
    /// Whether this device is in use.
    #[serde(default)]
    activity: Option<Activity>,
    /// The status that the person chooses for all devices.
    #[serde(default)]
    status: Option<Choice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefreshRequest {
    token: String,
}

impl Channel for PersonChannel {
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        let Some(connection) = Connection::of(cx) else {
            return refuse(&Fault::new(ErrorCode::NoCommunity, "connect with the parameter `community`"));
        };
        if let Err(fault) = read::<JoinRequest>(payload) {
            return refuse(&fault);
        }
        let person = parts(cx.topic(), PERSON).filter(|(community, _)| *community == connection.community());
        let Some(person) = person.map(|(_, person)| person.to_owned()) else {
            return refuse(&Fault::not_found());
        };
        let topic = cx.shared_topic().clone();
        Joining::Later(Task::future(async move {
            Brought::Join(enter(connection, &topic, &person).await.map(Box::new))
        }))
    }

    fn join_answered(&mut self, _: &mut Context<'_>, answer: Info) -> Joining {
        match answer.downcast::<Brought>().map(|brought| *brought) {
            Ok(Brought::Join(Ok(entered))) => {
                let (joined, response) = *entered;
                self.joined = Some(joined);
                Joining::Accept(response.into())
            }
            Ok(Brought::Join(Err(fault))) => refuse(&fault),
            Ok(Brought::Missed(_)) | Err(_) => refuse(&Fault::new(ErrorCode::Internal, "the join failed")),
        }
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        if let Some(joined) = &mut self.joined {
            joined.tell_what_came_meanwhile(cx);
        }
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let Some(joined) = &mut self.joined else { return cx.fail() };
        match event {
            "typing" => {
                let answer = joined.types(payload, cx.now());
                return Waiting::answer_now(cx, answer);
            }
            "status" => {
                let paid = request::spend(joined.device.messenger(), joined.device.me(), event);
                return Waiting::answer_now(cx, paid.and_then(|()| joined.status(payload)));
            }
            _ => {}
        }
        if !joined.rare.get_or_insert_default().sending.state().waiting.has_room(cx) {
            return;
        }
        if event == "token:refresh" {
            return joined.refresh(cx, payload);
        }
        let (messenger, me) = (joined.device.messenger(), joined.device.me());
        let state = joined.rare.get_or_insert_default().sending.state();
        let asker = Asker { messenger, me, room: None, turns: &state.turns };
        match request::answer(&asker, event, payload) {
            Ok(answer) => state.waiting.answer_later(cx, answer),
            Err(fault) => Waiting::answer_now(cx, Err(fault)),
        }
    }

    fn handle_info(&mut self, cx: &mut Context<'_>, info: Info) {
        let Some(joined) = &mut self.joined else { return };
        let settled = match &mut joined.rare {
            Some(rare) => rare.sending.settle(cx, info),
            None => Err(info),
        };
        let Err(info) = settled else { return };
        match info.downcast::<Brought>().map(|brought| *brought) {
            Ok(Brought::Missed(Ok(page))) => {
                for shown in &page.messages {
                    cx.push("msg:new", json!(shown));
                }
                if page.more {
                    cx.push("conversations:changed", json!({}));
                }
            }
            // Who may no longer read it has missed nothing; if the store was in trouble, the client joins again.
            Ok(Brought::Missed(Err(Failure::Unavailable(_)))) => cx.fail(),
            Ok(Brought::Missed(Err(_)) | Brought::Join(_)) | Err(_) => {}
        }
    }

    /// A device whose token is valid for all rooms receives the topic unfiltered, which costs nothing.
    fn intercepts(&self) -> &'static [&'static str] {
        match &self.joined {
            Some(joined) if joined.within().is_some() => TOLD_TO_PEOPLE,
            Some(_) | None => &[],
        }
    }

    fn handle_out(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let Some(joined) = &mut self.joined else { return };
        if matches!(payload, Payload::Json(text) if joined.passes(event, text)) {
            cx.push(event, payload);
        }
    }

    fn terminate(&mut self, _: &mut Context<'_>, _: Ended) {
        self.joined = None;
    }
}

/// Conversations that are read at once when a join is accepted; with more, the client lists them again.
const MISSED_MAX: usize = 8;

impl Joined {
    fn within(&self) -> Option<&Within> {
        self.rare.as_deref()?.within.as_ref()
    }

    /// Returns whether the device may hear of a conversation.
    fn hears_of(&self, conversation: ConversationId) -> bool {
        self.within().is_none_or(|within| within.has(conversation))
    }

    /// Returns whether the device may receive an event.
    fn passes(&mut self, event: &str, payload: &str) -> bool {
        let within = self.rare.as_deref_mut().and_then(|rare| rare.within.as_mut());
        within.is_none_or(|within| within.passes(event, payload))
    }

    /// Takes the snapshot, and frees the rare part if it is empty then.
    fn take_snapshot(&mut self) -> Option<Snapshot> {
        let snapshot = self.rare.as_deref_mut()?.snapshot.take();
        self.rare.take_if(|rare| rare.sending.is_silent() && rare.within.is_none());
        snapshot
    }

    fn tell_what_came_meanwhile(&mut self, cx: &mut Context<'_>) {
        let Some(Snapshot { read, shown, look, undecided }) = self.take_snapshot() else { return };
        // Too much to replay: the client joins again, and is shown everything.
        let Ok(told) = undecided.accept() else { return cx.fail() };
        for (event, payload) in told {
            if self.passes(event, &payload) {
                cx.push(event, Payload::Json(&payload));
            }
        }
        let (messenger, me) = (self.device.messenger(), self.device.me());
        if let Some(newer) = messenger.inner.audience.newer_look(&me.community, &look) {
            cx.push(looks::EVENT, Payload::Json(&newer));
        }
        if me.rooms().are_all() {
            for presence in messenger.inner.audience.friends_since(&me.community, me.id(), shown) {
                cx.push("presence", json!(presence));
            }
        }
        let Newer { after, others } = messenger.inner.audience.newer(&me.community, me.id(), &read);
        if others || after.len() > MISSED_MAX {
            cx.push("conversations:changed", json!({}));
        }
        let heard = after.into_iter().filter(|(conversation, _)| self.hears_of(*conversation));
        for (conversation, seq) in heard.take(MISSED_MAX) {
            let read = ReadPage { conversation, around: Around::After(seq), limit: PAGE_MAX };
            let answer = messenger.ask(&me.community, me.by(), read);
            cx.spawn(Task::future(async move { Brought::Missed(answer.await) }));
        }
    }

    /// Only in a conversation that they follow: a person cannot show typing where they are not.
    pub(super) fn types(&mut self, payload: Payload<'_>, now: Micros) -> Result<Value, Fault> {
        let typing = read::<request::Typing>(payload)?;
        let audience = &self.device.messenger().inner.audience;
        let (community, me) = (&self.device.me().community, self.device.me().id());
        let is_theirs =
            |place: &ConversationId| audience.is_in(community, *place, me) && self.hears_of(*place);
        let conversation = typing.conversation.filter(is_theirs).ok_or_else(Fault::not_found)?;
        if self.rare.get_or_insert_default().sending.state().typing.passes(typing.on, now) {
            self.device.messenger().inner.notices().typing(community, conversation, me, typing.on);
        }
        Ok(json!({}))
    }

    pub(super) fn status(&self, payload: Payload<'_>) -> Result<Value, Fault> {
        let request = read::<StatusRequest>(payload)?;
        let inner = &self.device.messenger().inner;
        let (me, device) = (self.device.me(), self.device.0.socket.0);
        let (community, me) = (&me.community, me.id());
        let announcement =
            inner.audience.set_status(community, me, device, request.activity, request.status, now());
        inner.here().announce(&announcement);
        let status = inner.audience.own_status(community, me);
        // Their other devices show the chosen status, which others may not see.
        inner.notices().person(community, me, "status", &json!({ "status": status }).to_string());
        Ok(json!({ "status": status }))
    }

    fn refresh(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) {
        let paid = request::spend(self.device.messenger(), self.device.me(), "token:refresh");
        match paid.and_then(|()| read::<RefreshRequest>(payload)) {
            Ok(request) => {
                let connection = self.device.0.clone();
                let token = identity::Token::new(request.token);
                let answer = Answering::of(async move { connection.refresh(token).await });
                self.rare.get_or_insert_default().sending.state().waiting.answer_later(cx, answer);
            }
            Err(fault) => Waiting::answer_now(cx, Err(fault)),
        }
    }
}

/// Joins a device to its person's topic, when it is the join's turn.
pub(super) async fn enter(
    connection: Arc<Connection>,
    topic: &Arc<str>,
    person: &str,
) -> Result<(Joined, Value), Fault> {
    let (connection, _turn) = connection.in_turn().await?;
    // Boxed, so that a join that waits does not take what one under way does.
    Box::pin(enter_now(&connection, topic, person)).await
}

async fn enter_now(
    connection: &Arc<Connection>,
    topic: &Arc<str>,
    person: &str,
) -> Result<(Joined, Value), Fault> {
    let (messenger, me) = (&connection.messenger, connection.me().await?);
    if person != me.id().as_str() {
        return Err(Fault::not_found());
    }
    let audience = &messenger.inner.audience;
    let (device, undecided) = Device::arrive(connection, me, topic)?;
    let Theirs { tabs, next, all, is_whole: _ } = messenger.follow(&me.community, me.id()).await?;
    let tabs: Vec<Value> =
        tabs.iter().filter(|tab| me.may_use(&tab.conversation)).map(request::tab).collect();
    let within = if me.rooms().are_all() { None } else { Some(Within::of(messenger, me).await?) };
    let (invitations, presence) = beyond_rooms(messenger, me).await?;
    let (shown, look) = messenger.look(&me.community).await?;
    let response = json!({
        "me": me.json(),
        "community": shown,
        "epoch": messenger.epoch(),
        "receipts": me.person.receipts(),
        "status": audience.own_status(&me.community, me.id()),
        "conversations": tabs,
        "next": next.map(request::tab_position),
        "page": PAGE,
        "invitations": invitations,
        "presence": presence,
    });
    let read = all.iter().map(|line| (line.followed.id, line.last)).collect();
    let snapshot = Some(Snapshot { read, shown: Shown::of(&presence), look, undecided });
    let rare = Some(Box::new(Rare { sending: Sending::default(), within, snapshot }));
    Ok((Joined { rare, device }, response))
}

/// Returns a person's invitations, and the presence of those with whom they share a direct conversation or group;
/// nothing for a token that is valid for some rooms only.
async fn beyond_rooms(messenger: &Messenger, me: &Me) -> Result<(Vec<Invitation>, Vec<Presence>), Fault> {
    if !me.rooms().are_all() {
        return Ok((Vec::new(), Vec::new()));
    }
    let invitations = messenger.ask(&me.community, me.by(), Invitations { conversation: None }).await?;
    Ok((invitations, messenger.inner.audience.friends(&me.community, me.id())))
}
