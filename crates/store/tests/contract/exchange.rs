//! Moving data from one store to another.

use crate::Case;
use crate::scene::{Scene, person, texts};
use chat::rows::Record;
use chat::verbs::{Around, Export, Import, ReportMessage, Reports, SearchMessages};
use chat::*;

pub(crate) const CASES: &[Case] = &[
    ("a community moves to another store with everything that it has", moves),
    ("records of another community are refused", |scene| {
        let part = scene.service(Export { person: None, after: None }).expect("a key may");
        let other = scene.beside();
        assert!(matches!(other.service(Import { records: part.records.clone() }), Err(Failure::Invalid(_))));
        scene.people(&["ann"]);
        assert!(scene.ask("ann", Import { records: part.records }).is_err());
    }),
    ("of several reports of one person and message the first is taken", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        scene.send("bob", room, "rude");
        let report = ReportMessage { conversation: room, seq: Seq(1), reason: "rude".into() };
        let first = scene.ask("ann", report).expect("she may").report;
        let other = Report { id: ReportId(Ulid::from_bytes([1; 16])), ..first.clone() };
        let records = vec![first.clone().into(), other.into()];
        scene.service(Import { records }).expect("a key may");
        let open = Reports { conversation: Some(room), after: None, limit: 9 };
        assert_eq!(scene.service(open).expect("a key may").rows, [first]);
    }),
];

fn moves(scene: &Scene) {
    let room = scene.lobby(&["ann", "bob"]);
    for nth in 0..(limits::PAGE_MAX + 20) {
        scene.send("ann", room, &format!("number {nth}"));
    }
    let draft = Draft { mentions: vec![person("bob")], ..Draft::text(None, "you") };
    scene.ask("ann", chat::verbs::Append { conversation: room, draft }).expect("she may");
    let react = chat::verbs::React { conversation: room, seq: Seq(2), emoji: "👍".into(), on: true };
    scene.ask("bob", react).expect("he may");
    let ends = scene.now().after_ms(60_000);
    let revoke = chat::verbs::Revoke { person: person("bob"), token: None, until_s: 7, ends };
    scene.service(revoke).expect("a key may");
    let records = scene.export(None);
    let into = scene.on(std::sync::Arc::new(MemoryStore::default()));
    // Twice, because an interrupted import is repeated.
    for _ in 0..2 {
        for part in records.chunks(limits::PAGE_MAX) {
            into.service(Import { records: part.to_vec() }).expect("a key may");
        }
    }
    let sorted = |mut records: Vec<Record>| {
        records.sort_by_key(|record| serde_json::to_string(record).expect("it is JSON"));
        records
    };
    assert_eq!(sorted(into.export(None)), sorted(records.clone()));
    assert_eq!(into.tab("bob", room), scene.tab("bob", room));
    assert_eq!(texts(&into.page("bob", room, Around::Newest, 1)), [(limits::PAGE_MAX as u64 + 21, "you")]);
    let search = SearchMessages { query: "number 7".into(), conversation: None, before: None, limit: 9 };
    let found = |scene: &Scene| scene.ask("ann", search.clone()).expect("she is known").rows;
    assert!(!found(scene).is_empty());
    assert_eq!(found(&into), found(scene));
    // And back: this store imports what the in-memory one exports.
    for part in sorted(into.export(None)).chunks(limits::PAGE_MAX) {
        scene.service(Import { records: part.to_vec() }).expect("a key may");
    }
    assert_eq!(sorted(scene.export(None)), sorted(records));
    assert_eq!(into.send("ann", room, "goes on").message.seq.0, limits::PAGE_MAX as u64 + 22);
}
