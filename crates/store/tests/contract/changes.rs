//! Edits, deletions, reactions.

use crate::Case;
use crate::scene::{Scene, person, profile, texts};
use chat::verbs::{Append, Around, Changed, Delete, EditText, EditsOf, Meet, OwnReactions, React};
use chat::*;

fn edit(scene: &Scene, by: &str, conversation: ConversationId, text: &str) -> Result<Changed, Failure> {
    scene.ask(by, EditText { conversation, seq: Seq(1), text: text.into(), mentions: vec![] })
}

fn react(
    scene: &Scene,
    by: &str,
    conversation: ConversationId,
    emoji: &str,
    on: bool,
) -> Result<Changed, Failure> {
    scene.ask(by, React { conversation, seq: Seq(1), emoji: emoji.into(), on })
}

pub(crate) const CASES: &[Case] = &[
    ("an edit keeps the place, and the former text for moderators", |scene| {
        let room = scene.lobby(&["ann", "bob", "mod"]);
        scene.moderator("mod", room);
        scene.send("ann", room, "one");
        assert!(edit(scene, "ann", room, "two").is_ok_and(|changed| changed.changed));
        assert!(edit(scene, "ann", room, "three").is_ok_and(|changed| changed.message.edits == 2));
        assert!(edit(scene, "ann", room, "three").is_ok_and(|changed| !changed.changed), "nothing changed");
        assert_eq!(texts(&scene.page("bob", room, Around::Newest, 5)), [(1, "three")]);
        let former =
            scene.ask("mod", EditsOf { conversation: room, seq: Seq(1) }).expect("moderators see it");
        assert_eq!(former.iter().map(|edit| edit.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        let refused = Failure::Refused(Refusal::NotPermitted(Action::SeeEdits));
        assert_eq!(scene.ask("bob", EditsOf { conversation: room, seq: Seq(1) }), Err(refused));
    }),
    ("only its author edits a message", |scene| {
        let room = scene.lobby(&["ann", "mod"]);
        scene.moderator("mod", room);
        scene.send("ann", room, "one");
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Send)));
        assert_eq!(edit(scene, "mod", room, "two"), refused);
        assert_eq!(scene.page("ann", room, Around::Newest, 5).conversation.revision, Revision(0));
    }),
    ("a deleted message is a tombstone that keeps its place", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        scene.send("ann", room, "one");
        scene.send("ann", room, "two");
        react(scene, "bob", room, "👍", true).expect("he may");
        edit(scene, "ann", room, "uno").expect("it is hers");
        let gone = scene.ask("ann", Delete { conversation: room, seq: Seq(1) }).expect("it is hers");
        assert!(gone.changed && gone.reactions.is_empty());
        let again = scene.ask("ann", Delete { conversation: room, seq: Seq(1) }).expect("it is the same");
        assert!(!again.changed);
        let page = scene.page("bob", room, Around::Newest, 5);
        assert_eq!(texts(&page), [(1, ""), (2, "two")]);
        assert!(!page.messages[0].message.deleted.expect("it is deleted").moderated);
        assert_eq!(edit(scene, "ann", room, "x"), Err(Failure::Conflict(Conflict::Deleted)));
        assert_eq!(react(scene, "bob", room, "👍", true), Err(Failure::Conflict(Conflict::Deleted)));
        let former = scene.service(EditsOf { conversation: room, seq: Seq(1) }).expect("a key may");
        assert!(former.is_empty(), "nothing of what it said is left");
    }),
    ("moderators delete what those below them said", |scene| {
        let room = scene.lobby(&["ann", "bob", "mod", "mad"]);
        scene.moderator("mod", room);
        scene.moderator("mad", room);
        scene.send("ann", room, "one");
        scene.send("mad", room, "two");
        let delete = |by: &str, seq| scene.ask(by, Delete { conversation: room, seq: Seq(seq) });
        let refused = Failure::Refused(Refusal::NotPermitted(Action::DeleteAny));
        assert_eq!(delete("bob", 1), Err(refused.clone()));
        assert_eq!(delete("mod", 2), Err(refused), "not what another moderator said");
        let gone = delete("mod", 1).expect("a moderator may");
        assert!(gone.message.deleted.expect("it is deleted").moderated);
        // Also one who is above them in the whole community alone, as a member of the room or as nobody in it.
        let boss = Profile { role: Some(Role::Owner), ..profile("bob") };
        scene.ask("bob", Meet { profile: boss.clone() }).expect("he may come");
        scene.ask("boss", Meet { profile: boss }).expect("he may come");
        scene.send("bob", room, "three");
        scene.send("boss", room, "four");
        let refused = Failure::Refused(Refusal::NotPermitted(Action::DeleteAny));
        assert_eq!([delete("mod", 3), delete("mod", 4)], [Err(refused.clone()), Err(refused)]);
        delete("boss", 2).expect("an owner of the community may");
    }),
    ("reactions are counted once for each person", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        scene.send("ann", room, "one");
        for (by, emoji) in [("ann", "👍"), ("bob", "👍"), ("bob", "👍"), ("bob", "🎉")] {
            react(scene, by, room, emoji, true).expect("they may");
        }
        let seen = |by: &str| -> Vec<(String, u64, bool)> {
            let page = scene.page(by, room, Around::Newest, 5);
            let tallies = page.messages[0].reactions.iter();
            tallies.map(|tally| (tally.emoji.clone(), tally.count, tally.mine)).collect()
        };
        assert_eq!(seen("ann"), [("👍".to_owned(), 2, true), ("🎉".to_owned(), 1, false)]);
        react(scene, "bob", room, "👍", false).expect("he may");
        assert!(react(scene, "bob", room, "👍", false).is_ok_and(|changed| !changed.changed));
        assert_eq!(seen("bob"), [("👍".to_owned(), 1, false), ("🎉".to_owned(), 1, true)]);
        assert!(matches!(react(scene, "ann", room, "a\nb", true), Err(Failure::Invalid(_))));
    }),
    ("many people's reactions are counted, and one's own are told apart", |scene| {
        const PEOPLE: u64 = 60;
        let names: Vec<String> = (0..PEOPLE).map(|number| format!("p{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let room = scene.lobby(&names);
        for text in ["one", "two", "three"] {
            scene.send("p0", room, text);
        }
        for by in &names {
            react(scene, by, room, "👍", true).expect("they may");
        }
        let last = react(scene, "p7", room, "🎉", true).expect("he may");
        let counted: Vec<_> = last.reactions.iter().map(|tally| (tally.count, tally.mine)).collect();
        assert_eq!(counted, [(PEOPLE, true), (1, true)], "as its answer says");
        let page = scene.page("p3", room, Around::Newest, 5);
        let counted: Vec<_> =
            page.messages[0].reactions.iter().map(|tally| (tally.count, tally.mine)).collect();
        assert_eq!(counted, [(PEOPLE, true), (1, false)], "as a page says");
        assert!(page.messages[1..].iter().all(|shown| shown.reactions.is_empty()));
        let own = |by: &str, from, to| -> Vec<(u64, String)> {
            let own = OwnReactions { conversation: room, from: Seq(from), to: Seq(to) };
            let own = scene.ask(by, own).expect("they may").into_iter();
            own.map(|reaction| (reaction.seq.0, reaction.emoji)).collect()
        };
        assert_eq!(own("p7", 1, 3), [(1, "🎉".to_owned()), (1, "👍".to_owned())]);
        assert_eq!(own("p3", 1, u64::MAX), [(1, "👍".to_owned())]);
        assert!(own("p3", 2, 3).is_empty() && own("p3", 3, 2).is_empty());
        let stranger = OwnReactions { conversation: room, from: Seq(1), to: Seq(3) };
        assert!(scene.beside().service(stranger).is_err(), "there is no such room beside");
    }),
    ("no message has more different reactions than fit on a page", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        scene.send("ann", room, "one");
        for number in 0..limits::REACTIONS_MAX {
            react(scene, "ann", room, &format!("r{number}"), true).expect("there is room");
        }
        let refused = Refusal::LimitReached { limit: "reactions_max", max: limits::REACTIONS_MAX as u64 };
        assert_eq!(react(scene, "bob", room, "one more", true), Err(Failure::Refused(refused)));
        let same = react(scene, "bob", room, "r7", true).expect("it is there");
        assert_eq!(same.reactions.iter().filter(|tally| tally.mine).count(), 1);
    }),
    ("mentions follow the text, and nothing else changes them", |scene| {
        let room = scene.lobby(&["ann", "bob", "cid"]);
        let draft = Draft { mentions: vec![person("bob")], ..Draft::text(None, "one") };
        scene.ask("ann", Append { conversation: room, draft }).expect("she may");
        let mentions = || ["bob", "cid"].map(|who| scene.tab(who, room).mentions);
        react(scene, "cid", room, "👍", true).expect("he may");
        assert_eq!(mentions(), [1, 0]);
        for (text, whom, counted) in [("two", "bob", [1, 0]), ("three", "cid", [0, 1])] {
            let whom = vec![person(whom)];
            let edit = EditText { conversation: room, seq: Seq(1), text: text.into(), mentions: whom };
            scene.ask("ann", edit).expect("it is hers");
            assert_eq!(mentions(), counted, "{text}");
        }
        scene.ask("ann", Delete { conversation: room, seq: Seq(1) }).expect("it is hers");
        assert_eq!(mentions(), [0, 0]);
    }),
    ("who was away asks for what changed", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        for text in ["one", "two", "three"] {
            scene.send("ann", room, text);
        }
        let known = scene.page("bob", room, Around::Newest, 5).conversation.revision;
        react(scene, "bob", room, "👍", true).expect("he may");
        scene.ask("ann", Delete { conversation: room, seq: Seq(3) }).expect("it is hers");
        edit(scene, "ann", room, "uno").expect("it is hers");
        let page = scene.page("bob", room, Around::Changed(known), 5);
        assert_eq!(texts(&page), [(3, ""), (1, "uno")], "each message once, by its last change");
        assert_eq!(page.conversation.revision, Revision(3));
        assert!(scene.page("bob", room, Around::Changed(Revision(3)), 5).messages.is_empty());
        let part = scene.page("bob", room, Around::Changed(known), 1);
        assert!(part.more && texts(&part) == [(3, "")]);
    }),
];
