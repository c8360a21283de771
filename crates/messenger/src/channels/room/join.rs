//! Joining a room: whether a person may, as what, and what they see first.

use super::recovery::{Recover, Seen, Snapshot};
use super::{Joined, Rare};
use crate::audience::{Followed, Shown};
use crate::cache::{Key, Standing};
use crate::channels::connection::{Connection, Me};
use crate::channels::sending::Sending;
use crate::fault::Fault;
use crate::messenger::Messenger;
use chat::verbs::Join;
use chat::{ConversationId, Failure, InvitationId, Refusal, RoomName};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The payload of a join.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::channels) struct JoinRequest {
    /// Where the client stopped.
    pub(super) recover: Option<Recover>,
    /// The invitation, for a room that requires one.
    pub(super) invitation: Option<InvitationId>,
    /// Joins as a visitor, without becoming a member.
    pub(super) visit: bool,
}

/// Admits a person to a room, and reads what they see first, when it is the join's turn.
pub(in crate::channels) async fn enter(
    connection: Arc<Connection>,
    room: RoomName,
    request: JoinRequest,
) -> Result<(Joined, Value), Fault> {
    let (connection, _turn) = connection.in_turn().await?;
    // Boxed, so that a join that waits does not take what one under way does.
    Box::pin(enter_now(&connection, room, request)).await
}

async fn enter_now(
    connection: &Arc<Connection>,
    room: RoomName,
    request: JoinRequest,
) -> Result<(Joined, Value), Fault> {
    let (messenger, me) = (&connection.messenger, connection.me().await?);
    if !me.rooms().have(&room) {
        return Err(Fault::not_found());
    }
    let community = &me.community;
    let conversation = messenger.room(community, &room).await?;
    // Before access is checked: an eviction from here on finds the pending join.
    let place = Place::take(connection, conversation, &room, me);
    let changes = messenger.inner.audience.changes(community, conversation);
    messenger.permit_join(community, me.id(), conversation).await?;
    let standing = become_member(messenger, me, conversation, &request).await?;
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
    let rare = Some(Box::new(Rare { sending: Sending::default(), snapshot, visits: !speaks }));
    Ok((Joined { place, rare }, response))
}

/// Makes a person a member if they may become one by joining, unless they join as a visitor. Returns their standing.
async fn become_member(
    messenger: &Messenger,
    me: &Me,
    conversation: ConversationId,
    request: &JoinRequest,
) -> Result<Arc<Standing>, Fault> {
    // Everybody joins, and many do nothing else: it is worth a place in the cache for those who come again.
    let key = Key::Standing(me.community.clone(), conversation, me.id().clone());
    let returns = messenger.inner.cache.note_request(&key);
    let standing = async || match returns {
        true => messenger.standing(&me.community, conversation, me.id()).await,
        false => messenger.standing_once(&me.community, conversation, me.id()).await,
    };
    match standing().await {
        Ok(standing) if standing.member.is_some() || request.visit => return Ok(standing),
        Ok(_) => {}
        Err(Failure::Absent(_) | Failure::Refused(Refusal::NotPermitted(_))) if !request.visit => {}
        Err(failure) => return Err(failure.into()),
    }
    let join = Join { conversation, invitation: request.invitation };
    messenger.ask(&me.community, me.by(), join).await?;
    Ok(standing().await?)
}

/// A join's registration in an open room, removed when dropped.
pub(super) struct Place {
    pub(super) connection: Arc<Connection>,
    pub(super) conversation: ConversationId,
}

impl Place {
    /// Registers the join. From here on the room's head is tracked: what is sent after this is on the page that is read
    /// next, or is detected by comparing with the head.
    fn take(connection: &Arc<Connection>, conversation: ConversationId, room: &RoomName, me: &Me) -> Self {
        let audience = &connection.messenger.inner.audience;
        audience.open_room(&me.community, conversation, room, me.id(), connection.socket.0);
        Self { connection: connection.clone(), conversation }
    }

    pub(super) fn messenger(&self) -> &Messenger {
        &self.connection.messenger
    }

    pub(super) fn me(&self) -> &Me {
        self.connection.here()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let audience = &self.messenger().inner.audience;
        audience.close_room(&self.me().community, self.conversation, self.connection.socket.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entrance::Credentials;
    use crate::joins_at_once::{JOINS_AT_ONCE_MAX, crowd};
    use crate::scene::{self, claims, id, run, somebody, token};
    use chat::verbs::{ChangeCommunity, ChangeRoom};
    use chat::{By, CommunityLimits, Kind, Settings};
    use futures_util::FutureExt as _;
    use futures_util::future::join_all;
    use std::pin::pin;
    use tokio::task::{unconstrained, yield_now};

    async fn in_lobby(messenger: &Messenger, person: &str) -> Joined {
        come_into_lobby(messenger, person).await.expect("they may come in")
    }

    async fn come_into_lobby(messenger: &Messenger, person: &str) -> Result<Joined, Fault> {
        Ok(come(messenger, &claims("one", person), JoinRequest::default()).await?.0)
    }

    /// Joins the lobby, on a connection without other topics.
    async fn come(
        messenger: &Messenger,
        said: &Value,
        request: JoinRequest,
    ) -> Result<(Joined, Value), Fault> {
        let (connection, room) = (connection(messenger, said), RoomName::parse("lobby").expect("a name"));
        // The hub keeps it as long as the client is connected.
        enter(connection.clone(), room, request).await
    }

    fn connection(messenger: &Messenger, said: &Value) -> Arc<Connection> {
        let credentials = Credentials { community: id("one"), token: Some(token(said)), name: None };
        Arc::new(Connection::new(messenger.clone(), credentials, None, None))
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
    fn the_second_join_of_somebody_caches_their_standing_and_the_third_takes_it_from_there() {
        run(async {
            let (messenger, _) = bounded(9).await;
            let cache = &messenger.inner.cache;
            let conversation = in_lobby(&messenger, "ann").await.place.conversation;
            let known = || cache.known_standing(&id("one"), conversation, &somebody("ann"));
            assert!(known().is_none(), "who only joins takes no place in the cache");
            drop(in_lobby(&messenger, "ann").await);
            assert!(known().is_some(), "she came again");
            let standings = || cache.counts().find(|(kind, ..)| *kind == "standing").expect("it is counted");
            let (_, hits, misses) = standings();
            drop(in_lobby(&messenger, "ann").await);
            assert_eq!(standings(), ("standing", hits + 1, misses));
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
    fn when_more_come_than_may_be_under_way_some_wait_and_all_come_in() {
        run(async {
            let (messenger, held) = bounded(u32::MAX).await;
            drop(in_lobby(&messenger, "ann").await);
            held.hold();
            let names: Vec<String> = (0..JOINS_AT_ONCE_MAX + 2).map(|nth| format!("p{nth}")).collect();
            let all = join_all(names.iter().map(|name| come_into_lobby(&messenger, name)));
            let stored = async {
                // Each of them needs a turn to begin, and tokio lets one task take a part of them at a time.
                for _ in 0..JOINS_AT_ONCE_MAX {
                    yield_now().await;
                }
                assert_eq!((held.count(), messenger.counts().joins_waiting), (JOINS_AT_ONCE_MAX, 2));
                held.commit();
            };
            let (all, ()) = tokio::join!(all, stored);
            assert!(all.iter().all(Result::is_ok));
            assert_eq!(messenger.counts().joins_waiting, 0);
        });
    }

    #[test]
    fn a_join_that_waits_is_small_and_one_under_way_is_not_large() {
        let (messenger, _) = scene::messenger();
        let connection = connection(&messenger, &claims("one", "ann"));
        let room = || RoomName::parse("lobby").expect("a name");
        let under_way = enter_now(&connection, room(), JoinRequest::default());
        let waiting = enter(connection.clone(), room(), JoinRequest::default());
        let bytes = (size_of_val(&waiting), size_of_val(&under_way));
        assert!(bytes.0 <= 512 && bytes.1 <= 2_048, "{bytes:?}");
    }

    #[test]
    fn who_disconnects_while_they_wait_is_not_admitted() {
        run(async {
            let (messenger, _) = bounded(u32::MAX).await;
            let crowd = crowd(&messenger.inner.joins, &id("one")).await;
            let connection = connection(&messenger, &claims("one", "ann"));
            let room = RoomName::parse("lobby").expect("a name");
            let mut join = pin!(enter(connection.clone(), room, JoinRequest::default()));
            assert!(unconstrained(join.as_mut()).now_or_never().is_none());
            assert_eq!(messenger.joins_waiting(), 1);
            drop(connection);
            drop(crowd);
            let asked = messenger.counts().asked_total;
            assert!(join.await.is_err());
            assert_eq!((messenger.counts().asked_total, messenger.counts().sessions), (asked, 0));
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
                let (joined, seen) =
                    come(&messenger, &said, JoinRequest::default()).await.expect("and come in");
                let who = &seen["member"];
                assert_eq!((&who["person"], &who["role"]), (&json!("ann"), &json!("member")), "{kind:?}");
                assert!(joined.speaks() && seen["presence"].is_object(), "{role} in {kind:?}: {seen}");
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
            let _joined = in_lobby(&messenger, "ann").await;
            assert!(audience.is_in(&one, lobby.id, &ann));
        });
    }
}
