//! Moving data from one store to another.

use crate::Case;
use crate::scene::{Scene, person, texts};
use chat::rows::Record;
use chat::verbs::{
    Around, CreateCommunity, Export, FindRoom, Import, ReportMessage, Reports, SearchMessages,
};
use chat::*;

pub(crate) const CASES: &[Case] = &[
    ("a community moves to another store with everything that it has", moves),
    ("a room goes on after an older export was imported over it", goes_on),
    ("a room is not imported over another one of its name", |scene| {
        let lobby = scene.lobby(&["ann"]);
        let source = elsewhere(scene);
        let room = source.lobby(&["ann"]);
        source.send("ann", room, "one");
        let said = import(scene, &source.export(None)).expect_err("it is another lobby").to_string();
        assert!(said.contains("the room lobby") && said.contains("erase the room here"), "{said}");
        let name = RoomName::parse("lobby").expect("a name");
        assert_eq!(scene.service(FindRoom { name }).map(|room| room.id), Ok(lobby));
    }),
    ("a direct conversation is not imported over another one of the same two", |scene| {
        let source = elsewhere(scene);
        source.lobby(&["ann", "bob"]);
        source.direct("ann", "bob");
        let records: Vec<Record> = source.export(None).into_iter().filter(is_direct).collect();
        import(scene, &records).expect("there is none yet");
        import(scene, &records).expect("it is the same");
        let used = scene.beside();
        used.lobby(&["ann", "bob"]);
        used.direct("ann", "bob");
        let said = import(&used, &records).expect_err("it is another one").to_string();
        assert!(said.contains("ann and bob"), "{said}");
    }),
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

/// A community of the same name in a store in memory.
fn elsewhere(scene: &Scene) -> Scene {
    let other = scene.on(std::sync::Arc::new(MemoryStore::default()));
    other.service(CreateCommunity { settings: Settings::named("Elsewhere") }).expect("it is new");
    other
}

fn is_direct(record: &Record) -> bool {
    matches!(record, Record::Conversation(row) if row.pair.is_some())
}

fn import(into: &Scene, records: &[Record]) -> Result<(), Failure> {
    records.chunks(limits::PAGE_MAX).try_for_each(|part| into.service(Import { records: part.to_vec() }))
}

fn goes_on(scene: &Scene) {
    let room = scene.lobby(&["ann", "bob"]);
    scene.send("ann", room, "one");
    let older = scene.export(None);
    scene.send("ann", room, "two");
    scene.people(&["cid"]);
    scene.join("cid", room);
    let react = chat::verbs::React { conversation: room, seq: Seq(2), emoji: "👍".into(), on: true };
    let revision = scene.ask("bob", react).expect("he may").message.revision;
    let before = scene.tab("cid", room).conversation;
    // Twice, because an interrupted import is repeated.
    for _ in 0..2 {
        import(scene, &older).expect("a key may");
        assert_eq!(scene.tab("cid", room).conversation, before);
    }
    assert_eq!((before.last, before.members), (Seq(2), 3));
    assert_eq!(scene.send("ann", room, "three").message.seq, Seq(3));
    assert_eq!(texts(&scene.page("bob", room, Around::Newest, 5)), [(1, "one"), (2, "two"), (3, "three")]);
    let react = chat::verbs::React { conversation: room, seq: Seq(3), emoji: "👍".into(), on: true };
    assert!(scene.ask("bob", react).expect("he may").message.revision > revision);
}

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
