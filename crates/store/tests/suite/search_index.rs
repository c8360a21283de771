//! A SQLite search finds indexed and not yet indexed messages, whatever happens to them in the meantime.

use crate::acme::call;
use crate::ann::{self, ann};
use chat::verbs::*;
use chat::*;
use std::collections::BTreeMap;
use store::{SqliteOptions, SqliteStore};

const WORDS: [&str; 5] = ["red", "green", "blue", "Grün", "reddish"];
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A store with a room in it, and the expected texts of its messages.
struct Library {
    store: SqliteStore,
    room: ConversationId,
    texts: BTreeMap<u64, String>,
    days: u64,
    _folder: tempfile::TempDir,
}

impl Library {
    fn new(unindexed_max: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("library.sqlite3");
        let options = SqliteOptions { unindexed_max, ..SqliteOptions::new(path) };
        let store = SqliteStore::open(options).expect("a new file opens");
        let room = ann::in_a_room(&store);
        let limits = CommunityLimits { history_days: Some(1), ..CommunityLimits::default() };
        let settings = Settings { limits, ..Settings::named("Acme") };
        store.ask(call(By::Service).ask(ChangeCommunity { settings })).expect("a key may");
        Self { store, room, texts: BTreeMap::new(), days: 0, _folder: folder }
    }

    fn ask<C>(&self, by: By, command: C) -> <Asked<C> as Verb>::Answer
    where
        Asked<C>: Verb,
    {
        let mut call = call(by);
        call.now = Moment::from_millis(call.now.millis() + self.days * DAY_MS);
        self.store.ask(call.ask(command)).expect("they may")
    }

    fn send(&mut self, text: String) {
        let append = Append { conversation: self.room, draft: Draft::text(None, &text) };
        let seq = self.ask(ann(), append).message.seq;
        self.texts.insert(seq.0, text);
    }

    fn edit(&mut self, seq: u64, text: String) {
        self.ask(
            ann(),
            EditText { conversation: self.room, seq: Seq(seq), text: text.clone(), mentions: Vec::new() },
        );
        self.texts.insert(seq, text);
    }

    fn delete(&mut self, seq: u64) {
        self.ask(ann(), Delete { conversation: self.room, seq: Seq(seq) });
        self.texts.insert(seq, String::new());
    }

    /// Removes all rows; the next message reuses the first one's row number.
    fn expire(&mut self) {
        self.days += 3;
        while self.ask(By::Service, Expire).more {}
        self.texts.clear();
    }

    /// Searches in pages of two.
    fn found(&self, query: &str) -> Vec<u64> {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let search = SearchMessages { query: query.into(), conversation: None, before, limit: 2 };
            let page = self.ask(ann(), search);
            found.extend(page.rows.iter().map(|message| message.seq.0));
            before = page.rows.last().map(|message| message.id);
            if page.rows.len() < 2 {
                return found;
            }
        }
    }

    fn check(&self, step: &str) {
        for word in ["red", "green", "blue", "grun", "reddish"] {
            let has =
                |text: &&String| chat::rows::words(text).iter().any(|of_text| of_text.starts_with(word));
            let expected: Vec<u64> =
                self.texts.iter().rev().filter(|(_, text)| has(text)).map(|(seq, _)| *seq).collect();
            assert_eq!(self.found(word), expected, "{word} after {step}");
        }
    }
}

/// Numbers that look random, the same each time.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn text(&mut self) -> String {
        let words: Vec<_> = (0..self.below(4)).map(|_| WORDS[self.below(WORDS.len())]).collect();
        format!("… {}", words.join(", "))
    }
}

#[test]
fn it_agrees_with_what_the_messages_say() {
    for unindexed_max in [0, 1, 3, 30] {
        let (mut library, mut drawn) = (Library::new(unindexed_max), Drawn(unindexed_max.into()));
        for nth in 0..160 {
            let seqs: Vec<u64> =
                library.texts.iter().filter(|(_, text)| !text.is_empty()).map(|(seq, _)| *seq).collect();
            let step = match drawn.below(40) {
                0 => {
                    library.expire();
                    "everything is old"
                }
                1..8 if !seqs.is_empty() => {
                    let text = drawn.text();
                    library.edit(seqs[drawn.below(seqs.len())], text);
                    "an edit"
                }
                8..14 if !seqs.is_empty() => {
                    library.delete(seqs[drawn.below(seqs.len())]);
                    "a delete"
                }
                _ => {
                    library.send(drawn.text());
                    "a message"
                }
            };
            library.check(&format!("{step}, step {nth}, of {unindexed_max} unindexed"));
        }
    }
}
