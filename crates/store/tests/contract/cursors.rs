//! Cursors, unread counts and the list of conversations.

use crate::Case;
use crate::scene::{Scene, person};
use chat::verbs::{
    Advance, Advanced, Append, Conversations, Cursors, Keep, ReadReceipts, Receipts, SetReceipts,
};
use chat::*;

fn read(scene: &Scene, who: &str, conversation: ConversationId, seq: u64) -> Advanced {
    let advance = Advance { conversation, delivered: Seq(0), read: Seq(seq) };
    scene.ask(who, advance).expect("they may")
}

pub(crate) const CASES: &[Case] = &[
    ("unread is newest minus read, on every device", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        for _ in 0..4 {
            scene.send("ann", room, "x");
        }
        assert_eq!((scene.tab("bob", room).unread, scene.tab("ann", room).unread), (4, 0));
        assert_eq!(read(scene, "bob", room, 3).unread, 1);
        assert_eq!(scene.tab("bob", room).unread, 1);
        scene.send("bob", room, "I have seen it");
        assert_eq!((scene.tab("bob", room).unread, scene.tab("ann", room).unread), (0, 1));
    }),
    ("cursors move forward only, and not beyond the newest", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        for _ in 0..3 {
            scene.send("ann", room, "x");
        }
        assert!(read(scene, "bob", room, 2).moved);
        let back = read(scene, "bob", room, 1);
        assert!(!back.moved && back.member.read == Seq(2));
        let beyond = read(scene, "bob", room, 1_000);
        assert_eq!((beyond.member.read, beyond.member.delivered, beyond.unread), (Seq(3), Seq(3), 0));
        let delivered = Advance { conversation: room, delivered: Seq(u64::MAX), read: Seq(0) };
        scene.send("ann", room, "x");
        let there = scene.ask("bob", delivered).expect("he may");
        assert_eq!((there.member.read, there.member.delivered, there.unread), (Seq(3), Seq(4), 1));
    }),
    ("what was said before somebody came is not unread", |scene| {
        let room = scene.lobby(&["ann"]);
        scene.send("ann", room, "x");
        scene.people(&["bob"]);
        scene.join("bob", room);
        assert_eq!(scene.tab("bob", room).unread, 0);
    }),
    ("unread mentions are counted apart", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        for mentions in [vec![], vec![person("bob")], vec![person("bob")]] {
            let draft = Draft { mentions, ..Draft::text(None, "x") };
            scene.ask("ann", Append { conversation: room, draft }).expect("she may");
        }
        assert_eq!(scene.tab("bob", room).mentions, 2);
        read(scene, "bob", room, 2);
        assert_eq!(scene.tab("bob", room).mentions, 1);
        let edit =
            chat::verbs::EditText { conversation: room, seq: Seq(3), text: "y".into(), mentions: vec![] };
        scene.ask("ann", edit).expect("it is hers");
        assert_eq!(scene.tab("bob", room).mentions, 0, "an edit takes a mention back");
    }),
    ("the tab has the most recently active conversation first, in pages", |scene| {
        scene.people(&["ann"]);
        let rooms: Vec<ConversationId> =
            (0..5).map(|nth| scene.room(Kind::Public, &format!("r{nth}"), &["ann"])).collect();
        for room in [3, 1, 4, 0, 2] {
            scene.send("ann", rooms[room], &format!("in {room}"));
        }
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let listed = scene.ask("ann", Conversations { before, limit: 2 }).expect("she is known");
            assert!(listed.rows.len() <= 2);
            seen.extend(listed.rows.into_iter().map(|tab| tab.last.expect("something was said").text));
            before = listed.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, ["in 2", "in 0", "in 4", "in 1", "in 3"]);
    }),
    ("muted and put away are kept, each by itself", |scene| {
        let room = scene.lobby(&["ann"]);
        let keep = |muted, archived| {
            scene.ask("ann", Keep { conversation: room, muted, archived }).expect("she may")
        };
        keep(Some(true), None);
        let member = keep(None, Some(true));
        assert!(member.muted && member.archived);
        assert!(!keep(Some(false), None).muted);
        assert!(scene.tab("ann", room).member.archived);
    }),
    ("few members tell what each has read, unless they do not want to", |scene| {
        let room = scene.lobby(&["ann", "bob", "cid"]);
        scene.send("ann", room, "x");
        read(scene, "bob", room, 1);
        scene.ask("cid", SetReceipts { on: false }).expect("he may");
        read(scene, "cid", room, 1);
        let receipts = scene.ask("ann", ReadReceipts { conversation: room, seq: Seq(1) }).expect("she may");
        let cursors = |who: &str| Cursors { person: person(who), delivered: Seq(1), read: Seq(1) };
        assert_eq!(receipts, Receipts::Each(vec![cursors("ann"), cursors("bob")]));
    }),
    ("many members tell how many have read", |scene| {
        let names: Vec<String> = (0..=limits::RECEIPTS_EACH_MAX).map(|nth| format!("p{nth}")).collect();
        let room = scene.lobby(&names.iter().map(String::as_str).collect::<Vec<_>>());
        scene.send("p0", room, "x");
        read(scene, "p1", room, 1);
        let delivered = Advance { conversation: room, delivered: Seq(1), read: Seq(0) };
        scene.ask("p2", delivered).expect("they may");
        let receipts = scene.ask("p0", ReadReceipts { conversation: room, seq: Seq(1) }).expect("they may");
        let counts = chat::rows::ReceiptCounts { delivered: 3, read: 2 };
        assert_eq!(receipts, Receipts::Counts(counts));
    }),
];
