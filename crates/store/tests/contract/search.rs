//! Search.

use crate::Case;
use crate::scene::{Scene, person};
use chat::verbs::{Delete, EditText, ImposeSanction, Listed, SearchMessages};
use chat::*;

fn find(scene: &Scene, by: &str, query: &str) -> Vec<String> {
    let search = SearchMessages { query: query.into(), conversation: None, before: None, limit: 50 };
    scene.ask(by, search).expect("they are known").rows.into_iter().map(|message| message.text).collect()
}

pub(crate) const CASES: &[Case] = &[
    ("all words are found, the newest first, without case and accents", |scene| {
        let room = scene.lobby(&["ann"]);
        for text in
            ["The quick brown fox", "a Quick answer", "brown, QUICK & señor", "東京タワー 2026", "don't"]
        {
            scene.send("ann", room, text);
        }
        assert_eq!(
            find(scene, "ann", "quick"),
            ["brown, QUICK & señor", "a Quick answer", "The quick brown fox"]
        );
        assert_eq!(find(scene, "ann", "quick brown"), ["brown, QUICK & señor", "The quick brown fox"]);
        assert_eq!(find(scene, "ann", "SENOR"), ["brown, QUICK & señor"]);
        assert_eq!(find(scene, "ann", "東京"), ["東京タワー 2026"]);
        assert_eq!(find(scene, "ann", "don't"), ["don't"]);
        assert!(find(scene, "ann", "quic brown").is_empty(), "only the last word may be a beginning");
        assert_eq!(find(scene, "ann", "brown quic").len(), 2);
    }),
    ("the last word is a beginning from three characters on", |scene| {
        let room = scene.lobby(&["ann"]);
        for text in ["an apple", "a pear", "Apricots", "東京"] {
            scene.send("ann", room, text);
        }
        assert_eq!(find(scene, "ann", "app"), ["an apple"]);
        assert_eq!(find(scene, "ann", "ápr"), ["Apricots"], "accents are no characters");
        assert!(find(scene, "ann", "ap").is_empty(), "nobody said it");
        assert_eq!(find(scene, "ann", "a"), ["a pear"], "as a word of its own");
        assert_eq!(find(scene, "ann", "an app"), ["an apple"]);
        assert_eq!(find(scene, "ann", "東"), ["東京"], "an ideograph is a word");
    }),
    ("no query is a language", |scene| {
        let room = scene.lobby(&["ann"]);
        scene.send("ann", room, "or not and near words");
        for query in [
            "\"",
            "words\"",
            "words OR",
            "words NOT",
            "NEAR(words",
            "words*",
            "-words",
            "words:words",
            "'words' | & !",
            "\\words",
        ] {
            let search = SearchMessages { query: query.into(), conversation: None, before: None, limit: 9 };
            match scene.ask("ann", search) {
                Ok(_) | Err(Failure::Invalid(_)) => {}
                Err(other) => panic!("{query}: {other}"),
            }
        }
        assert_eq!(find(scene, "ann", "words*").len(), 1);
    }),
    ("people find what they may read", |scene| {
        let den = scene.room(Kind::Private, "den", &["ann", "bob"]);
        let lobby = scene.lobby(&["ann", "eve"]);
        scene.send("ann", den, "hidden word");
        scene.send("ann", lobby, "open word");
        assert_eq!(find(scene, "ann", "word"), ["open word", "hidden word"]);
        assert_eq!(find(scene, "bob", "word"), ["hidden word"]);
        assert_eq!(find(scene, "eve", "word"), ["open word"]);
        let within = |by: &str, conversation| {
            let conversation = Some(conversation);
            scene.ask(by, SearchMessages { query: "word".into(), conversation, before: None, limit: 9 })
        };
        assert_eq!(within("ann", den).expect("she may").rows.len(), 1);
        assert_eq!(within("eve", den), Err(Failure::Absent(Thing::Conversation)));
        let ban = ImposeSanction {
            person: person("bob"),
            conversation: Some(den),
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        scene.service(ban).expect("a key may");
        assert!(find(scene, "bob", "word").is_empty(), "a ban hides what was said");
    }),
    ("what was edited or deleted is forgotten", |scene| {
        let room = scene.lobby(&["ann"]);
        scene.send("ann", room, "alpha beta");
        scene.send("ann", room, "alpha gamma");
        let text = "delta".into();
        scene
            .ask("ann", EditText { conversation: room, seq: Seq(1), text, mentions: vec![] })
            .expect("it is hers");
        assert_eq!(find(scene, "ann", "alpha"), ["alpha gamma"]);
        assert_eq!(find(scene, "ann", "delta"), ["delta"]);
        assert!(find(scene, "ann", "beta").is_empty());
        scene.ask("ann", Delete { conversation: room, seq: Seq(2) }).expect("it is hers");
        assert!(find(scene, "ann", "gamma").is_empty());
    }),
    ("results come in pages", |scene| {
        let room = scene.lobby(&["ann"]);
        for nth in 0..5 {
            scene.send("ann", room, &format!("word {nth}"));
        }
        let mut found = Vec::new();
        let mut before = None;
        loop {
            let search = SearchMessages { query: "word".into(), conversation: None, before, limit: 2 };
            let Listed { rows, next } = scene.ask("ann", search).expect("she is known");
            found.extend(rows.into_iter().map(|message| message.text));
            before = next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(found, ["word 4", "word 3", "word 2", "word 1", "word 0"]);
    }),
];
