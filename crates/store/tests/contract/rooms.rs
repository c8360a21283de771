//! Rooms: who sees them, who can join.

use crate::Case;
use crate::scene::person;
use chat::verbs::{
    ChangeRoom, CreateRoom, FindRoom, Invitations, Invite, Join, Leave, Meet, Members, ReadConversation,
    ReadPage, Rooms, SetRole, Withdraw,
};
use chat::*;

const HIDDEN: Failure = Failure::Absent(Thing::Conversation);

fn name(name: &str) -> RoomName {
    RoomName::parse(name).expect("it is a name")
}

pub(crate) const CASES: &[Case] = &[
    ("a room's name is taken once", |scene| {
        scene.lobby(&[]);
        let again = scene.service(CreateRoom::public(name("lobby"), "Again"));
        assert_eq!(again, Err(Failure::Conflict(Conflict::NameTaken)));
    }),
    ("what is hidden and what is absent are the same to strangers", |scene| {
        let den = scene.room(Kind::Private, "den", &["ann"]);
        scene.people(&["eve"]);
        let nowhere = ConversationId(Ulid::from_bytes([9; 16]));
        for id in [den, nowhere] {
            assert_eq!(scene.ask("eve", ReadConversation { conversation: id }), Err(HIDDEN));
            assert_eq!(scene.ask("eve", Join { conversation: id, invitation: None }), Err(HIDDEN));
            assert_eq!(scene.try_send("eve", id, "x"), Err(HIDDEN));
            assert_eq!(scene.ask("eve", Leave { conversation: id }), Err(HIDDEN));
            assert_eq!(scene.ask("eve", Members { conversation: id, after: None, limit: 9 }), Err(HIDDEN));
            let page = ReadPage { conversation: id, around: chat::verbs::Around::Newest, limit: 9 };
            assert_eq!(scene.ask("eve", page), Err(HIDDEN));
        }
        for room in ["den", "nowhere"] {
            assert_eq!(scene.ask("eve", FindRoom { name: name(room) }), Err(HIDDEN));
        }
        assert!(scene.ask("ann", FindRoom { name: name("den") }).is_ok());
    }),
    ("guests see public rooms, others see members' rooms, keys see all", |scene| {
        scene.room(Kind::Public, "a-public", &[]);
        scene.room(Kind::Members, "b-members", &[]);
        scene.room(Kind::Private, "c-private", &[]);
        scene.people(&["ann"]);
        scene.guest("gus");
        let rooms = Rooms { after: None, limit: 9 };
        let seen = |listed: chat::verbs::Listed<Conversation, RoomName>| -> Vec<String> {
            listed.rows.into_iter().filter_map(|room| room.name).map(|name| name.to_string()).collect()
        };
        assert_eq!(seen(scene.ask("gus", rooms.clone()).expect("he is known")), ["a-public"]);
        assert_eq!(seen(scene.ask("ann", rooms.clone()).expect("she is known")), ["a-public", "b-members"]);
        assert_eq!(seen(scene.service(rooms).expect("a key may")), ["a-public", "b-members", "c-private"]);
        let part = scene.service(Rooms { after: None, limit: 2 }).expect("a key may");
        let rest = scene.service(Rooms { after: part.next, limit: 2 }).expect("a key may");
        assert_eq!(seen(rest), ["c-private"]);
    }),
    ("a public room is read by everybody and written by who came in", |scene| {
        let room = scene.lobby(&["ann"]);
        scene.send("ann", room, "hello");
        scene.guest("gus");
        assert_eq!(scene.page("gus", room, chat::verbs::Around::Newest, 5).messages.len(), 1);
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Send)));
        assert_eq!(scene.try_send("gus", room, "x"), refused);
        scene.join("gus", room);
        assert!(scene.try_send("gus", room, "x").is_ok());
        let members =
            scene.ask("ann", Members { conversation: room, after: None, limit: 9 }).expect("she may");
        let roles: Vec<Role> = members.rows.iter().map(|member| member.role).collect();
        assert_eq!(roles, [Role::Member, Role::Guest]);
    }),
    ("a private room is entered by invitation", |scene| {
        let den = scene.room(Kind::Private, "den", &[]);
        scene.people(&["ann", "bob", "eve"]);
        scene.invite(den, "ann");
        assert_eq!(scene.ask("bob", Join { conversation: den, invitation: None }), Err(HIDDEN));
        let mine = scene.ask("ann", Invitations { conversation: None }).expect("she is known");
        let not_for_eve = Join { conversation: den, invitation: Some(mine[0].id) };
        assert_eq!(scene.ask("eve", not_for_eve), Err(Failure::Absent(Thing::Invitation)));
        let came = scene.ask("ann", Join { conversation: den, invitation: None }).expect("she is invited");
        assert!(came.came && came.conversation.members == 1);
        let again = scene.ask("ann", Join { conversation: den, invitation: None }).expect("she is in");
        assert!(!again.came && again.conversation.members == 1);
        assert!(scene.ask("ann", Invitations { conversation: None }).is_ok_and(|left| left.is_empty()));
    }),
    ("an open invitation is used so often, until it is over", |scene| {
        let den = scene.room(Kind::Private, "den", &[]);
        scene.people(&["ann", "bob", "cid"]);
        let until = Some(scene.now().after_ms(60_000));
        let open =
            scene.service(Invite { conversation: den, person: None, until, uses: 2 }).expect("a key may");
        let join = Join { conversation: den, invitation: Some(open.invitation.id) };
        assert!(scene.ask("ann", join).is_ok() && scene.ask("bob", join).is_ok());
        let over = Err(Failure::Absent(Thing::Invitation));
        assert_eq!(scene.ask("cid", join), over);
        let late =
            scene.service(Invite { conversation: den, person: None, until, uses: 2 }).expect("a key may");
        scene.wait_ms(60_000);
        assert_eq!(scene.ask("cid", Join { conversation: den, invitation: Some(late.invitation.id) }), over);
        scene.service(Withdraw { invitation: late.invitation.id }).expect("a key may");
    }),
    ("invitations that are over make room for others", |scene| {
        let den = scene.room(Kind::Private, "den", &[]);
        let invite = |until| scene.service(Invite { conversation: den, person: None, until, uses: 2 });
        let until = Some(scene.now().after_ms(3_600_000));
        for _ in 0..limits::PAGE_MAX {
            invite(until).expect("a key may");
        }
        let Err(Failure::Refused(Refusal::LimitReached { .. })) = invite(None) else {
            panic!("they are many")
        };
        scene.wait_ms(3_600_000);
        let stands = invite(None).expect("the others are over").invitation;
        assert_eq!(scene.service(Invitations { conversation: Some(den) }), Ok(vec![stands.clone()]));
        let of_rooms = |record: &rows::Record| matches!(record, rows::Record::Invitation(_));
        assert_eq!(scene.export(None).into_iter().filter(of_rooms).collect::<Vec<_>>(), [stands.into()]);
    }),
    ("the last owner stays while others are there", |scene| {
        scene.people(&["ann", "bob"]);
        let settings = Settings { people_make_rooms: true, ..Settings::named("A community") };
        scene.service(chat::verbs::ChangeCommunity { settings }).expect("a key may");
        let room = scene.ask("ann", CreateRoom::public(name("hers"), "Hers")).expect("people may").id;
        scene.join("bob", room);
        let last = Err(Failure::Conflict(Conflict::LastOwner));
        assert_eq!(scene.ask("ann", Leave { conversation: room }).map(drop), last);
        let role = |who: &str, role| SetRole { conversation: room, person: person(who), role };
        assert_eq!(scene.ask("ann", role("ann", Role::Member)).map(drop), last);
        assert!(scene.ask("bob", role("bob", Role::Owner)).is_err(), "nobody makes themselves owner");
        scene.ask("ann", role("bob", Role::Owner)).expect("an owner may");
        let left = scene.ask("ann", Leave { conversation: room }).expect("there is another one");
        assert_eq!(left.members, 1);
    }),
    ("a room is described by moderators and opened by owners", |scene| {
        let room = scene.lobby(&["ann", "mod"]);
        scene.moderator("mod", room);
        let topic = ChangeRoom { topic: Some("About\nthis".into()), ..ChangeRoom::of(room) };
        assert_eq!(
            scene.ask("ann", topic.clone()).map(drop),
            Err(Failure::Refused(Refusal::NotPermitted(Action::Describe)))
        );
        assert_eq!(scene.ask("mod", topic).expect("a moderator may").topic, "About\nthis");
        let close = ChangeRoom { kind: Some(Kind::Private), ..ChangeRoom::of(room) };
        assert!(scene.ask("mod", close.clone()).is_err());
        assert_eq!(scene.service(close).expect("a key may").kind, Kind::Private);
        let wrong =
            ChangeRoom { title: Some(String::new()), slow_mode_s: Some(1 << 30), ..ChangeRoom::of(room) };
        let Err(Failure::Invalid(problems)) = scene.service(wrong) else { panic!("it is invalid") };
        let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["title", "slow_mode_s"], "every field that is wrong is named");
    }),
    ("what guests may do is the community's choice", |scene| {
        let room = scene.lobby(&[]);
        scene.guest("gus");
        scene.join("gus", room);
        let guests = |guests| {
            let settings = Settings { guests, ..Settings::named("A community") };
            scene.service(chat::verbs::ChangeCommunity { settings }).expect("a key may");
        };
        guests(GuestPolicy::Read);
        assert_eq!(
            scene.try_send("gus", room, "x"),
            Err(Failure::Refused(Refusal::NotPermitted(Action::Send)))
        );
        guests(GuestPolicy::Refused);
        assert_eq!(scene.try_send("gus", room, "x"), Err(HIDDEN));
        let meet = Meet { profile: Profile { guest: true, ..crate::scene::profile("gus") } };
        assert_eq!(scene.ask("gus", meet).map(drop), Err(Failure::Absent(Thing::Community)));
    }),
];
