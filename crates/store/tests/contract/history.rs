//! Message order and pages.

use crate::Case;
use crate::scene::{Scene, json, person, texts};
use chat::rows::Record;
use chat::verbs::{Append, Around, EditText, Expire, React, ReadMessage, ReadPage, SearchMessages};
use chat::*;
use std::sync::mpsc;

pub(crate) const CASES: &[Case] = &[
    ("places are numbered from one without a hole", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        let places: Vec<u64> = (0..5).map(|_| scene.send("ann", room, "x").message.seq.0).collect();
        assert_eq!(places, [1, 2, 3, 4, 5]);
        assert_eq!(scene.send("bob", room, "y").message.seq, Seq(6));
    }),
    ("many senders at once make one dense order, each message once", many_senders),
    ("pages are found by place", |scene| {
        let room = scene.lobby(&["ann"]);
        for nth in 1..=10 {
            scene.send("ann", room, &format!("m{nth}"));
        }
        let places = |around, limit| -> (Vec<u64>, bool) {
            let page = scene.page("ann", room, around, limit);
            (texts(&page).into_iter().map(|(seq, _)| seq).collect(), page.more)
        };
        assert_eq!(places(Around::Newest, 3), (vec![8, 9, 10], true));
        assert_eq!(places(Around::Before(Seq(4)), 9), (vec![1, 2, 3], false));
        assert_eq!(places(Around::Before(Seq(4)), 2), (vec![2, 3], true));
        assert_eq!(places(Around::After(Seq(7)), 2), (vec![8, 9], true));
        assert_eq!(places(Around::After(Seq(10)), 2), (vec![], false));
        assert_eq!(places(Around::Place(Seq(5)), 4), (vec![4, 5, 6, 7], true));
        assert_eq!(places(Around::Before(Seq(0)), 4), (vec![], false));
        assert_eq!(places(Around::After(Seq(u64::MAX)), 4), (vec![], false));
    }),
    ("a page is bounded, whatever is asked", |scene| {
        let room = scene.lobby(&["ann"]);
        for _ in 0..(limits::PAGE_MAX + 5) {
            scene.send("ann", room, "x");
        }
        let page = scene.page("ann", room, Around::After(Seq(0)), usize::MAX);
        assert_eq!(page.messages.len(), limits::PAGE_MAX);
        assert!(page.more);
    }),
    ("a message has a name of its own, which strangers cannot use", |scene| {
        let room = scene.room(Kind::Private, "den", &["ann"]);
        scene.people(&["eve"]);
        let said = scene.send("ann", room, "secret").message;
        let shown = scene.ask("ann", ReadMessage { message: said.id }).expect("she may read");
        assert_eq!(shown.message, said);
        assert_eq!(scene.ask("eve", ReadMessage { message: said.id }), Err(Failure::Absent(Thing::Message)));
    }),
    ("what a message carries comes back as it was", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        scene.send("bob", room, "first");
        let draft = Draft {
            client_id: crate::scene::client_id("c-1"),
            text: "a\n\"b\" 👩\u{200d}🚀 \\ ' % _".into(),
            reply_to: Some(Seq(1)),
            mentions: vec![crate::scene::person("bob"), crate::scene::person("nobody")],
            attachments: vec![Attachment {
                id: "f1".into(),
                name: "a b.png".into(),
                media_type: "image/png".into(),
                bytes: 12,
            }],
        };
        let said = scene.ask("ann", Append { conversation: room, draft }).expect("she may").message;
        let page = scene.page("bob", room, Around::Newest, 1);
        assert_eq!(page.messages[0].message, said);
        assert_eq!(said.mentions, [crate::scene::person("bob")], "only members are mentioned");
    }),
    ("a reply is to something that was said", |scene| {
        let room = scene.lobby(&["ann"]);
        let draft = Draft { reply_to: Some(Seq(1)), ..Draft::text(None, "x") };
        let refused = scene.ask("ann", Append { conversation: room, draft });
        assert!(matches!(refused, Err(Failure::Invalid(_))), "{refused:?}");
    }),
    ("retention drops the beginning and never a place twice", retention),
    (
        "retention goes through many rooms in parts of a page, with all that belongs to a message",
        retention_of_many,
    ),
];

fn many_senders(scene: &Scene) {
    const SENDERS: usize = 20;
    const EACH: usize = 10;
    let names: Vec<String> = (0..SENDERS).map(|nth| format!("p{nth}")).collect();
    let room = scene.lobby(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let (answer, answers) = mpsc::channel();
    for nth in 0..EACH {
        for name in &names {
            let call = scene.call(By::Person(crate::scene::person(name)));
            let draft =
                Draft::text(crate::scene::client_id(&format!("{name}-{nth}")), &format!("{name} {nth}"));
            let answer = answer.clone();
            scene.store.submit_verb(call.ask(Append { conversation: room, draft }), move |outcome| {
                answer.send(outcome).expect("the test waits");
            });
        }
    }
    let mut said: Vec<Message> =
        answers.iter().take(SENDERS * EACH).map(|outcome| outcome.expect("all may send").message).collect();
    said.sort_by_key(|message| message.seq);
    let mut read = Vec::new();
    loop {
        let page = scene.page("p0", room, Around::After(Seq(read.len() as u64)), 64);
        read.extend(page.messages.into_iter().map(|shown| shown.message));
        if !page.more {
            break;
        }
    }
    assert_eq!(read, said);
    let places: Vec<u64> = read.iter().map(|message| message.seq.0).collect();
    assert_eq!(places, (1..=(SENDERS * EACH) as u64).collect::<Vec<_>>());
    for name in &names {
        let own: Vec<&str> = read
            .iter()
            .filter(|message| message.sender.as_str() == name)
            .map(|message| message.text.as_str())
            .collect();
        let sent: Vec<String> = (0..EACH).map(|nth| format!("{name} {nth}")).collect();
        assert_eq!(own, sent, "each sender's own order");
    }
}

fn retention(scene: &Scene) {
    let room = scene.lobby(&["ann", "bob"]);
    for _ in 0..3 {
        scene.send("ann", room, "old");
    }
    scene.wait_ms(3 * 24 * 60 * 60 * 1_000);
    scene.send("ann", room, "new");
    assert_eq!(scene.service(Expire).expect("a key may").messages, 0, "everything is kept by default");
    // The shorter of the limit and the community's own setting applies.
    for (limit, own, dropped) in
        [(Some(9), Some(9), 0), (Some(5), None, 0), (Some(5), Some(1), 3), (Some(1), Some(9), 0)]
    {
        let settings = Settings {
            limits: CommunityLimits { history_days: limit, ..CommunityLimits::default() },
            history_days: own,
            ..Settings::named("A community")
        };
        scene.service(chat::verbs::ChangeCommunity { settings }).expect("a key may");
        assert!(scene.ask("ann", Expire).is_err());
        let expired = scene.service(Expire).expect("a key may");
        assert_eq!((expired.messages, expired.more), (dropped, false), "{limit:?} and {own:?}");
    }
    let page = scene.page("bob", room, Around::After(Seq(0)), 10);
    assert_eq!(texts(&page), [(4, "new")]);
    assert_eq!(page.conversation.first, Seq(4));
    assert_eq!(scene.tab("bob", room).unread, 1, "what is gone is not unread");
    assert_eq!(scene.send("ann", room, "next").message.seq, Seq(5));
    let gone = scene.ask("bob", ReadPage { conversation: room, around: Around::Before(Seq(4)), limit: 5 });
    assert!(gone.is_ok_and(|page| page.messages.is_empty() && !page.more));
}

/// Sends to the rooms in turn, so that the oldest messages are from all of them.
fn retention_of_many(scene: &Scene) {
    const EACH: usize = 150;
    let rooms = ["lobby", "attic"].map(|name| scene.room(Kind::Public, name, &["ann", "bob"]));
    for _ in 0..EACH {
        for room in rooms {
            let draft = Draft { mentions: vec![person("bob")], ..Draft::text(None, "ancient") };
            let said = scene.ask("ann", Append { conversation: room, draft }).expect("she may").message;
            if said.seq.0.is_multiple_of(50) {
                let seq = said.seq;
                scene
                    .ask("bob", React { conversation: room, seq, emoji: "x".into(), on: true })
                    .expect("he may");
                let edit =
                    EditText { conversation: room, seq, text: "ancient, too".into(), mentions: vec![] };
                scene.ask("ann", edit).expect("it is hers");
            }
        }
    }
    scene.wait_ms(3 * 24 * 60 * 60 * 1_000);
    for room in rooms {
        scene.send("ann", room, "new");
    }
    let limits = CommunityLimits { history_days: Some(1), ..CommunityLimits::default() };
    let settings = Settings { limits, ..Settings::named("A community") };
    scene.service(chat::verbs::ChangeCommunity { settings }).expect("a key may");
    let mut parts = Vec::new();
    loop {
        let expired = scene.service(Expire).expect("a key may");
        parts.push(expired.messages);
        if parts.len() == 1 {
            let mut begin = rooms.map(|room| scene.page("bob", room, Around::Newest, 1).conversation.first);
            begin.sort_unstable();
            let rest = limits::PAGE_MAX - EACH;
            assert_eq!(begin, [rest + 1, EACH + 1].map(|seq| Seq(seq as u64)), "one room after the other");
        }
        if !expired.more {
            break;
        }
        assert!(expired.messages > 0, "it comes to an end: {parts:?}");
    }
    assert!(parts.iter().all(|messages| *messages <= limits::PAGE_MAX as u64), "{parts:?}");
    assert_eq!(parts.iter().sum::<u64>(), 2 * EACH as u64);
    for room in rooms {
        let page = scene.page("bob", room, Around::After(Seq(0)), 10);
        assert_eq!(texts(&page), [(EACH as u64 + 1, "new")]);
        assert_eq!(page.conversation.first, Seq(EACH as u64 + 1));
        let tab = scene.tab("bob", room);
        assert_eq!((tab.unread, tab.mentions), (1, 0), "what is gone mentions nobody");
    }
    let all = json(&scene.export(None));
    assert!(!all.contains("ancient"), "nothing of it is left: {all}");
    let left = |record: &Record| matches!(record, Record::Reaction(_) | Record::Mention(_) | Record::Edit(_));
    assert!(!scene.export(None).iter().any(left), "nor what belonged to it");
    let search = SearchMessages { query: "ancient".into(), conversation: None, before: None, limit: 9 };
    assert!(scene.service(search).expect("a key may").rows.is_empty());
}
