//! Bans, mutes, slow mode, reports, the audit log.

use crate::Case;
use crate::scene::person;
use chat::verbs::{
    AddMember, Around, AuditLog, ChangeRoom, Conversations, Erase, ImposeSanction, Invitations, Join, Leave,
    LiftSanction, Meet, OpenGroup, ReadConversation, ReadPage, Remove, ReportMessage, Reports, Sanctions,
    Settle,
};
use chat::*;

fn punish(kind: SanctionKind, conversation: Option<ConversationId>, until: Option<Moment>) -> ImposeSanction {
    ImposeSanction { person: person("bob"), conversation, kind, until, reason: "because".into() }
}

pub(crate) const CASES: &[Case] = &[
    ("who is muted reads and does not write, until the mute is over", |scene| {
        let room = scene.lobby(&["mod", "bob"]);
        let other = scene.room(Kind::Public, "other", &["bob"]);
        scene.moderator("mod", room);
        let until = scene.now().after_ms(60_000);
        scene.ask("mod", punish(SanctionKind::Mute, Some(room), Some(until))).expect("a moderator may");
        let muted = Err(Failure::Refused(Refusal::Muted { until: Some(until) }));
        assert_eq!(scene.try_send("bob", room, "x").map(drop), muted);
        assert!(scene.ask("bob", ReadPage { conversation: room, around: Around::Newest, limit: 1 }).is_ok());
        assert!(scene.try_send("bob", other, "x").is_ok());
        scene.wait_ms(60_000);
        assert!(scene.try_send("bob", room, "x").is_ok());
    }),
    ("who is banned is kept out until the ban is lifted", |scene| {
        let room = scene.lobby(&["mod", "bob"]);
        scene.moderator("mod", room);
        scene.ask("mod", punish(SanctionKind::Ban, Some(room), None)).expect("a moderator may");
        let banned = Err(Failure::Refused(Refusal::Banned { until: None }));
        assert_eq!(scene.try_send("bob", room, "x").map(drop), banned);
        let page = ReadPage { conversation: room, around: Around::Newest, limit: 1 };
        assert_eq!(scene.ask("bob", page).map(drop), banned);
        let tabs =
            |who: &str| scene.ask(who, Conversations { before: None, limit: 9 }).expect("known").rows.len();
        assert_eq!((tabs("bob"), tabs("mod")), (0, 1), "he sees no more than others of what is said");
        let listed = Sanctions { conversation: Some(room), after: None, limit: 9 };
        assert_eq!(scene.ask("mod", listed).expect("a moderator may").rows.len(), 1);
        let lift = LiftSanction { person: person("bob"), conversation: Some(room), kind: SanctionKind::Ban };
        scene.ask("mod", lift).expect("a moderator may");
        assert!(scene.try_send("bob", room, "x").is_ok(), "he is a member still");
        assert_eq!(tabs("bob"), 1);
    }),
    ("a ban from what is hidden hides it", |scene| {
        let den = scene.room(Kind::Private, "den", &["bob"]);
        scene.service(punish(SanctionKind::Ban, Some(den), None)).expect("a key may");
        assert_eq!(scene.try_send("bob", den, "x").map(drop), Err(Failure::Absent(Thing::Conversation)));
    }),
    ("a ban from the community is one everywhere", |scene| {
        let room = scene.lobby(&["bob"]);
        scene.service(punish(SanctionKind::Ban, None, None)).expect("a key may");
        let banned = Err(Failure::Refused(Refusal::Banned { until: None }));
        assert_eq!(scene.try_send("bob", room, "x").map(drop), banned);
        assert_eq!(scene.ask("bob", Meet { profile: crate::scene::profile("bob") }).map(drop), banned);
        assert!(scene.beside().ask("bob", Meet { profile: crate::scene::profile("bob") }).is_ok());
    }),
    ("nobody moderates their equals or those above", |scene| {
        let room = scene.lobby(&["mod", "bob", "ann"]);
        scene.moderator("mod", room);
        scene.moderator("bob", room);
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Moderate)));
        let ban = punish(SanctionKind::Ban, Some(room), None);
        assert_eq!(scene.ask("mod", ban.clone()).map(drop), refused);
        assert_eq!(scene.ask("ann", ban).map(drop), refused);
        let remove = Remove { conversation: room, person: person("ann") };
        scene.ask("mod", remove.clone()).expect("a moderator may");
        assert_eq!(scene.ask("mod", remove), Err(Failure::Absent(Thing::Person)));
    }),
    ("a role in the community counts in its rooms and not between people", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        let direct = scene.direct("ann", "bob");
        let profile = Profile { role: Some(Role::Moderator), ..crate::scene::profile("mod") };
        scene.ask("mod", Meet { profile }).expect("they may come");
        assert!(scene.try_send("mod", room, "x").is_ok());
        scene.ask("mod", punish(SanctionKind::Mute, Some(room), None)).expect("a moderator may");
        assert_eq!(scene.try_send("mod", direct, "x").map(drop), Err(Failure::Absent(Thing::Conversation)));
    }),
    ("who has a role in the community becomes a member of every room, and of no group, uninvited", |scene| {
        for (who, role) in [("mod", Role::Moderator), ("own", Role::Owner)] {
            let profile = Profile { role: Some(role), ..crate::scene::profile(who) };
            scene.ask(who, Meet { profile }).expect("they may come");
        }
        for (kind, name) in [(Kind::Public, "a"), (Kind::Members, "b"), (Kind::Private, "c")] {
            let room = scene.room(kind, name, &["ann", "bob"]);
            for who in ["mod", "own"] {
                let came = scene.ask(who, Join { conversation: room, invitation: None });
                let came = came.unwrap_or_else(|failure| panic!("{who} in {kind:?}: {failure:?}"));
                assert_eq!((came.came, came.member.role), (true, Role::Member), "{who} in {kind:?}");
                assert!(scene.try_send(who, room, "x").is_ok());
            }
            scene.ask("mod", punish(SanctionKind::Mute, Some(room), None)).expect("they moderate as before");
            scene.ask("mod", Leave { conversation: room }).expect("they may");
            scene.invite(room, "mod");
            scene.join("mod", room);
            let left = scene.ask("mod", Invitations { conversation: None }).expect("they are known");
            assert_eq!(left, [], "it was used");
            scene.ask("mod", Leave { conversation: room }).expect("they may");
            let ban = punish(SanctionKind::Ban, Some(room), None);
            scene.service(ImposeSanction { person: person("mod"), ..ban }).expect("a key may");
            assert!(scene.ask("mod", Join { conversation: room, invitation: None }).is_err(), "{kind:?}");
        }
        let with = vec![person("bob")];
        let group =
            scene.ask("ann", OpenGroup { with, title: String::new() }).expect("they see each other").id;
        let refused = scene.ask("own", Join { conversation: group, invitation: None }).map(drop);
        assert_eq!(refused, Err(Failure::Absent(Thing::Conversation)));
    }),
    ("a role in the community is moderator or owner, and of who has an account", |scene| {
        let meet =
            |role, guest| Meet { profile: Profile { role: Some(role), guest, ..crate::scene::profile("x") } };
        for (role, guest) in [(Role::Guest, false), (Role::Member, false), (Role::Owner, true)] {
            let Err(Failure::Invalid(problems)) = scene.ask("x", meet(role, guest)) else {
                panic!("{role:?} is no role in a community, {guest}");
            };
            assert_eq!(problems[0].field, "role");
        }
        assert!(scene.ask("x", meet(Role::Owner, false)).is_ok());
    }),
    ("a key puts people in with a role that they may have, or changes nothing", |scene| {
        let den = scene.room(Kind::Private, "den", &["own"]);
        scene.people(&["ann", "cid"]);
        scene.guest("gus");
        scene.invite(den, "ann");
        let bring = |who: &str, role| {
            let (conversation, person) = (den, person(who));
            scene.service(AddMember { conversation, person, role, invitation: None })
        };
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Administer)));
        assert_eq!(bring("gus", Some(Role::Moderator)).map(drop), refused);
        assert_eq!(bring("ann", Some(Role::Guest)).map(drop), refused);
        assert_eq!(bring("nobody", Some(Role::Member)).map(drop), Err(Failure::Absent(Thing::Conversation)));
        let invited = |who: &str| scene.ask(who, Invitations { conversation: None }).expect("known").len();
        let read = || scene.service(ReadConversation { conversation: den }).expect("a key may").0.members;
        assert_eq!((read(), invited("ann")), (1, 1), "nothing changed");
        let came = bring("ann", Some(Role::Moderator)).expect("a key may");
        assert!(came.came.is_some_and(|member| member.role == Role::Moderator) && !came.given);
        assert_eq!((read(), invited("ann")), (2, 0), "and the invitation is used");
        assert_eq!(bring("gus", Some(Role::Guest)).map(|brought| brought.member.role), Ok(Role::Guest));
        let stays = bring("ann", None).expect("a key may");
        assert_eq!((stays.came, stays.given, stays.member.role), (None, false, Role::Moderator));
        assert!(bring("ann", Some(Role::Member)).is_ok_and(|brought| brought.given));
        let log = AuditLog { conversation: Some(den), before: None, limit: 9 };
        let deeds = scene.service(log).expect("a key may").rows.into_iter();
        let notes: Vec<String> =
            deeds.filter(|entry| entry.deed == AuditAction::SetRole).map(|e| e.note).collect();
        assert_eq!(notes, ["member", "moderator"], "roles are in the log, the newest first");
        let own = AddMember { conversation: den, person: person("cid"), role: None, invitation: None };
        assert!(scene.ask("own", own).is_err(), "only keys put people in");
    }),
    ("slow mode lets members wait and moderators not", |scene| {
        let room = scene.lobby(&["ann", "bob", "mod"]);
        scene.moderator("mod", room);
        scene.service(ChangeRoom { slow_mode_s: Some(60), ..ChangeRoom::of(room) }).expect("a key may");
        scene.send("bob", room, "x");
        let Err(Failure::Refused(Refusal::SlowMode { retry_after_ms })) = scene.try_send("bob", room, "y")
        else {
            panic!("he has to wait");
        };
        assert!((1..60_000).contains(&retry_after_ms));
        assert!(scene.try_send("ann", room, "x").is_ok());
        assert!(scene.try_send("mod", room, "x").is_ok() && scene.try_send("mod", room, "y").is_ok());
        scene.wait_ms(retry_after_ms);
        assert!(scene.try_send("bob", room, "z").is_ok());
    }),
    ("who leaves a room in slow mode and comes back waits as before", |scene| {
        let room = scene.lobby(&["bob", "mod"]);
        scene.moderator("mod", room);
        scene.service(ChangeRoom { slow_mode_s: Some(60), ..ChangeRoom::of(room) }).expect("a key may");
        scene.send("bob", room, "x");
        scene.ask("bob", Leave { conversation: room }).expect("he may");
        scene.join("bob", room);
        let Err(Failure::Refused(Refusal::SlowMode { retry_after_ms })) = scene.try_send("bob", room, "y")
        else {
            panic!("he has to wait");
        };
        scene.wait_ms(retry_after_ms);
        assert!(scene.try_send("bob", room, "y").is_ok());
        scene.ask("mod", Leave { conversation: room }).expect("they may");
        scene.join("mod", room);
        scene.moderator("mod", room);
        assert!(scene.try_send("mod", room, "x").is_ok(), "moderators do not wait");
        scene.service(ChangeRoom { slow_mode_s: Some(0), ..ChangeRoom::of(room) }).expect("a key may");
        scene.ask("bob", Leave { conversation: room }).expect("he may");
        scene.join("bob", room);
        assert!(scene.try_send("bob", room, "z").is_ok(), "without slow mode nobody waits");
    }),
    ("a report is open until it is settled once", |scene| {
        let room = scene.lobby(&["ann", "bob", "mod"]);
        scene.moderator("mod", room);
        scene.send("bob", room, "rude");
        let report = |seq| ReportMessage { conversation: room, seq: Seq(seq), reason: "rude".into() };
        assert_eq!(scene.ask("ann", report(2)).map(drop), Err(Failure::Absent(Thing::Message)));
        let made = scene.ask("ann", report(1)).expect("members may").report;
        assert_eq!(made.author, person("bob"));
        let open = Reports { conversation: Some(room), after: None, limit: 9 };
        assert!(scene.ask("ann", open).is_err());
        assert_eq!(scene.ask("mod", open).expect("a moderator may").rows, std::slice::from_ref(&made));
        assert_eq!(scene.service(Reports { conversation: None, ..open }).expect("a key may").rows.len(), 1);
        let settle = |note: &str| Settle { report: made.id, note: note.into() };
        assert_eq!(scene.ask("ann", settle("mine")), Err(Failure::Absent(Thing::Report)));
        scene.ask("mod", settle("told him")).expect("a moderator may");
        let again = scene.service(settle("again")).expect("it stays");
        assert_eq!(again.settled.expect("it is settled").note, "told him");
        assert!(scene.ask("mod", open).expect("a moderator may").rows.is_empty());
    }),
    ("a message has one report of each person, and as many of keys as they make", |scene| {
        let room = scene.lobby(&["ann", "bob", "cid", "mod"]);
        scene.moderator("mod", room);
        for text in ["rude", "ruder"] {
            scene.send("bob", room, text);
        }
        let report =
            |seq, reason: &str| ReportMessage { conversation: room, seq: Seq(seq), reason: reason.into() };
        let open = || {
            let open = Reports { conversation: Some(room), after: None, limit: 9 };
            scene.ask("mod", open).expect("a moderator may").rows
        };
        let first = scene.ask("ann", report(1, "rude")).expect("members may");
        let again = scene.ask("ann", report(1, "very rude")).expect("they may say so again");
        assert_eq!((first.repeated, again.repeated), (false, true));
        assert_eq!(again.report, first.report);
        assert_eq!(open(), std::slice::from_ref(&first.report));
        for (by, seq) in [("ann", 2), ("cid", 1)] {
            assert!(!scene.ask(by, report(seq, "rude")).expect("members may").repeated);
        }
        assert_eq!(open().len(), 3);
        scene
            .ask("mod", Settle { report: first.report.id, note: "told him".into() })
            .expect("a moderator may");
        let again = scene.ask("ann", report(1, "still rude")).expect("they may say so again");
        assert_eq!(again.report, first.report, "what came of it is no business of theirs");
        assert_eq!(open().len(), 2);
        for _ in 0..2 {
            assert!(!scene.service(report(1, "rude")).expect("a key may").repeated);
        }
        for who in ["ann", "cid"] {
            while !scene.service(Erase { person: person(who) }).expect("a key may").done {}
        }
        assert_eq!(open().len(), 4, "nobody's are as many as there were");
    }),
    ("what moderators do stands in the audit log, the newest first", |scene| {
        let room = scene.lobby(&["mod", "bob"]);
        scene.moderator("mod", room);
        scene.ask("mod", punish(SanctionKind::Mute, Some(room), None)).expect("a moderator may");
        let lift = LiftSanction { person: person("bob"), conversation: Some(room), kind: SanctionKind::Mute };
        scene.ask("mod", lift).expect("a moderator may");
        let log = AuditLog { conversation: Some(room), before: None, limit: 9 };
        assert!(scene.ask("bob", log).is_err());
        let entries = scene.ask("mod", log).expect("a moderator may").rows;
        let deeds: Vec<AuditAction> = entries.iter().map(|entry| entry.deed).collect();
        assert_eq!(
            deeds,
            [AuditAction::Unmute, AuditAction::Mute, AuditAction::SetRole, AuditAction::CreateRoom]
        );
        assert_eq!((entries[1].by.as_str(), entries[1].note.as_str()), ("mod", "because"));
        let first = scene.ask("mod", AuditLog { limit: 2, ..log }).expect("a moderator may");
        let second =
            scene.ask("mod", AuditLog { before: first.next, limit: 2, ..log }).expect("a moderator may");
        assert_eq!((second.rows.len(), second.next), (2, None));
    }),
];
