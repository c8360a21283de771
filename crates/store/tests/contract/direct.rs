//! Direct conversations and groups.

use crate::Case;
use crate::scene::person;
use chat::verbs::{
    BlockPerson, Blocks, Invite, Join, Leave, Members, OpenDirect, OpenGroup, ReadConversation, ReadPerson,
    UnblockPerson, Withdraw,
};
use chat::*;

pub(crate) const CASES: &[Case] = &[
    ("two people have one conversation, whoever opens it", |scene| {
        scene.lobby(&["ann", "bob"]);
        let one = scene.direct("ann", "bob");
        assert_eq!(scene.direct("bob", "ann"), one);
        scene.send("ann", one, "hello");
        assert_eq!(scene.tab("bob", one).unread, 1);
    }),
    ("nobody else learns of it", |scene| {
        scene.lobby(&["ann", "bob", "eve"]);
        let direct = scene.direct("ann", "bob");
        let hidden = Err(Failure::Absent(Thing::Conversation));
        assert_eq!(scene.ask("eve", ReadConversation { conversation: direct }).map(drop), hidden);
        assert_eq!(scene.try_send("eve", direct, "x").map(drop), hidden);
        let invite = Invite { conversation: direct, person: Some(person("eve")), until: None, uses: 1 };
        assert!(scene.ask("ann", invite).is_err(), "two stay two");
        assert!(scene.ask("ann", Leave { conversation: direct }).is_err());
    }),
    ("people find who shares a conversation with them, and others where the community lets them", |scene| {
        scene.lobby(&["ann", "bob"]);
        scene.people(&["cid"]);
        let absent = Failure::Absent(Thing::Person);
        assert!(scene.ask("ann", ReadPerson { person: person("bob") }).is_ok());
        assert_eq!(scene.ask("ann", ReadPerson { person: person("cid") }), Err(absent.clone()));
        assert_eq!(scene.ask("ann", OpenDirect { with: person("cid") }).map(drop), Err(absent.clone()));
        assert_eq!(scene.ask("ann", OpenDirect { with: person("nobody") }).map(drop), Err(absent));
        let settings = Settings { people_find_each_other: true, ..Settings::named("A community") };
        scene.service(chat::verbs::ChangeCommunity { settings }).expect("a key may");
        assert!(scene.ask("ann", OpenDirect { with: person("cid") }).is_ok());
    }),
    ("who is blocked cannot write, nor who blocks, and both may again", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        let direct = scene.direct("ann", "bob");
        scene.ask("ann", BlockPerson { person: person("bob") }).expect("she sees him");
        scene.ask("ann", BlockPerson { person: person("bob") }).expect("it is the same");
        assert_eq!(scene.ask("ann", Blocks).expect("she is known").len(), 1);
        let blocked = Err(Failure::Refused(Refusal::Blocked));
        assert_eq!(scene.try_send("bob", direct, "x").map(drop), blocked);
        assert_eq!(scene.try_send("ann", direct, "x").map(drop), blocked);
        assert_eq!(scene.tab("bob", direct).conversation.id, direct, "what was said is read still");
        assert!(scene.try_send("bob", room, "x").is_ok(), "a room is no conversation of two");
        scene.ask("ann", UnblockPerson { person: person("bob") }).expect("she may");
        assert!(scene.try_send("bob", direct, "x").is_ok());
    }),
    ("with whom one blocks one begins no conversation, and one that is there stays", |scene| {
        scene.lobby(&["ann", "bob", "cid"]);
        let with_cid = scene.direct("ann", "cid");
        for whom in ["bob", "cid"] {
            scene.ask("ann", BlockPerson { person: person(whom) }).expect("she sees them");
        }
        let open = |by: &str, whom: &str| scene.ask(by, OpenDirect { with: person(whom) });
        for (by, whom) in [("bob", "ann"), ("ann", "bob")] {
            // The answer is the same as for a person who does not exist.
            for whom in [whom, "nobody"] {
                assert_eq!(open(by, whom), Err(Failure::Absent(Thing::Person)));
            }
        }
        for (by, whom) in [("cid", "ann"), ("ann", "cid")] {
            assert_eq!(open(by, whom).expect("it is there").id, with_cid);
        }
        assert!(open("bob", "cid").is_ok(), "they block nobody");
        scene.ask("ann", UnblockPerson { person: person("bob") }).expect("she may");
        assert!(open("bob", "ann").is_ok());
    }),
    ("with whom one blocks one opens no group, and nobody learns of it", |scene| {
        let room = scene.lobby(&["ann", "bob", "cid"]);
        scene.ask("ann", BlockPerson { person: person("bob") }).expect("she sees him");
        let absent = || Failure::Absent(Thing::Person);
        let group = |by: &str, with: &[&str]| {
            let with = with.iter().map(|name| person(name)).collect();
            scene.ask(by, OpenGroup { with, title: "Us".into() })
        };
        let invite = |by: &str, whom: &str| {
            let whom = Some(person(whom));
            scene.ask(by, Invite { conversation: room, person: whom, until: None, uses: 1 })
        };
        for (by, whom) in [("bob", "ann"), ("ann", "bob")] {
            // The answer is the same as for a person who does not exist.
            for whom in [whom, "nobody"] {
                assert_eq!(group(by, &[whom]), Err(absent()));
                assert_eq!(group(by, &["cid", whom]), Err(absent()));
                assert_eq!(invite(by, whom), Err(absent()));
            }
            assert!(group(by, &["cid"]).is_ok() && invite(by, "cid").is_ok());
        }
        scene.invite(room, "bob");
        scene.ask("ann", UnblockPerson { person: person("bob") }).expect("she may");
        assert!(group("bob", &["ann"]).is_ok() && invite("bob", "ann").is_ok());
    }),
    ("who is invited already stays invited once", |scene| {
        let room = scene.lobby(&["ann"]);
        scene.people(&["bob"]);
        let invite = Invite { conversation: room, person: Some(person("bob")), until: None, uses: 1 };
        let [first, again] = [(); 2].map(|()| scene.service(invite.clone()).expect("a key may"));
        assert_eq!((first.repeated, again.repeated), (false, true));
        assert_eq!(first.invitation, again.invitation);
        scene.service(Withdraw { invitation: first.invitation.id }).expect("a key may");
        assert!(!scene.service(invite).expect("a key may").repeated);
    }),
    ("a block of somebody else changes nothing", |scene| {
        scene.lobby(&["ann", "bob", "cid"]);
        let direct = scene.direct("ann", "bob");
        scene.ask("ann", BlockPerson { person: person("cid") }).expect("she sees him");
        scene.ask("cid", BlockPerson { person: person("bob") }).expect("he sees him");
        assert!(scene.try_send("ann", direct, "x").is_ok());
    }),
    ("a group has an owner, and not more people than it may", |scene| {
        let names: Vec<String> = (0..=limits::GROUP_MAX).map(|nth| format!("p{nth:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        scene.lobby(&names);
        let with = |count: usize| names[1..count].iter().map(|name| person(name)).collect::<Vec<_>>();
        let open = |with| scene.ask("p00", OpenGroup { with, title: "Us".into() });
        assert!(matches!(open(with(limits::GROUP_MAX + 1)), Err(Failure::Invalid(_))));
        assert!(matches!(open(vec![]), Err(Failure::Invalid(_))));
        let group = open(with(limits::GROUP_MAX)).expect("so many may");
        assert_eq!(group.members, limits::GROUP_MAX as u64);
        let last = names[limits::GROUP_MAX];
        let invite = Invite { conversation: group.id, person: Some(person(last)), until: None, uses: 1 };
        scene.ask("p01", invite).expect("members may invite");
        let join = Join { conversation: group.id, invitation: None };
        let full = Refusal::LimitReached { limit: "group_max", max: limits::GROUP_MAX as u64 };
        assert_eq!(scene.ask(last, join).map(drop), Err(Failure::Refused(full)));
        scene.ask("p02", Leave { conversation: group.id }).expect("they may");
        assert!(scene.ask(last, join).is_ok_and(|joined| joined.came));
        let members = Members { conversation: group.id, after: None, limit: 200 };
        let members = scene.ask(last, members).expect("they are in it");
        let owners = members.rows.iter().filter(|member| member.role == Role::Owner).count();
        assert_eq!((members.rows.len(), owners), (limits::GROUP_MAX, 1));
    }),
];
