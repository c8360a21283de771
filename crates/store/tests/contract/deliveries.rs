//! Deliveries to communities' own sites.

use crate::Case;
use crate::scene::{Scene, json, person};
use chat::verbs::*;
use chat::*;

/// An endpoint of a community with Ann in it, who the deliveries are about.
fn endpoint(scene: &Scene) -> KeyId {
    scene.people(&["ann"]);
    let key = CreateKey { name: "site".into(), purpose: serde_json::json!({}), hash: Vec::new() };
    scene.service(key).expect("a key may").id
}

fn id(nth: u8) -> DeliveryId {
    DeliveryId(Ulid::from_bytes([nth; 16]))
}

/// A delivery whose holder has the community's name, which is unique.
fn delivery(scene: &Scene, endpoint: KeyId, nth: u8) -> Delivery {
    Delivery {
        endpoint,
        id: id(nth),
        person: person("ann"),
        conversation: None,
        holder: scene.community.as_str().to_owned(),
        body: format!(r#"{{"nth":{nth},"text":"ä"}}"#),
        queued: scene.now(),
        attempts: 0,
        given_up: None,
    }
}

fn keep(scene: &Scene, endpoint: KeyId, numbers: impl IntoIterator<Item = u8>) {
    for nth in numbers {
        scene.service(KeepDelivery { delivery: delivery(scene, endpoint, nth) }).expect("a key may");
    }
}

/// What a server of that name finds when it starts.
fn waiting(scene: &Scene, holder: &str, abandoned_before: Moment) -> Vec<(CommunityId, Delivery)> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = Undelivered { holder: holder.to_owned(), abandoned_before, after };
        let page = scene.store.ask(page).expect("it can be read");
        after = page.last().map(|(community, row)| (community.clone(), row.endpoint, row.id));
        found.extend(page);
        if after.is_none() {
            return found;
        }
    }
}

fn own(scene: &Scene) -> Vec<Delivery> {
    let found = waiting(scene, scene.community.as_str(), Moment::default());
    assert!(found.iter().all(|(community, _)| *community == scene.community));
    found.into_iter().map(|(_, row)| row).collect()
}

fn dead(scene: &Scene, endpoint: KeyId) -> Vec<Delivery> {
    scene.service(DeadLetters { endpoint }).expect("a key may")
}

pub(crate) const CASES: &[Case] = &[
    ("what is to be told waits in its order until it was, with the attempts that failed", |scene| {
        let endpoint = endpoint(scene);
        keep(scene, endpoint, [2, 1, 3, 2]);
        let first = delivery(scene, endpoint, 1);
        let found = own(scene);
        assert_eq!(found.iter().map(|row| row.id).collect::<Vec<_>>(), [id(1), id(2), id(3)]);
        assert_eq!((&found[0].body, found[0].attempts), (&first.body, 0));
        scene.service(NoteAttempt { endpoint, id: id(1), attempts: 4 }).expect("a key may");
        assert_eq!(own(scene)[0].attempts, 4);
        scene.service(EndDelivery { endpoint, id: id(1) }).expect("a key may");
        // What was delivered in the meantime does not come back.
        scene.service(NoteAttempt { endpoint, id: id(1), attempts: 5 }).expect("a key may");
        assert_eq!(own(scene).iter().map(|row| row.id).collect::<Vec<_>>(), [id(2), id(3)]);
        assert!(!json(&scene.export(None)).contains("nth"), "it is no part of an export");
    }),
    ("what waits is its holder's, until it was abandoned", |scene| {
        let endpoint = endpoint(scene);
        keep(scene, endpoint, [1]);
        let is_ours = |found: Vec<(CommunityId, Delivery)>| {
            found.iter().any(|(community, _)| *community == scene.community)
        };
        assert!(!is_ours(waiting(scene, "another", scene.now().before_ms(60_000))));
        assert!(is_ours(waiting(scene, "another", scene.now().after_ms(1))));
    }),
    ("what waits is found page by page over all communities", |scene| {
        let beside = scene.beside();
        let holder = scene.community.as_str().to_owned();
        for scene in [scene, &beside] {
            let endpoint = endpoint(scene);
            for nth in 0..=250 {
                let row = Delivery { holder: holder.clone(), ..delivery(scene, endpoint, nth) };
                scene.service(KeepDelivery { delivery: row }).expect("a key may");
            }
        }
        let found = waiting(scene, &holder, Moment::default());
        assert_eq!(found.len(), 2 * 251);
        let places: Vec<_> = found.iter().map(|(community, row)| (community, row.endpoint, row.id)).collect();
        assert!(places.is_sorted());
    }),
    ("what was given up is seen, the newest of them, for a month", |scene| {
        let endpoint = endpoint(scene);
        keep(scene, endpoint, [1, 2]);
        let give_up = |id, why: &str| GiveUp { endpoint, id, why: why.into() };
        assert!(!scene.service(give_up(Some(id(1)), "too often")).expect("a key may"));
        let letters = dead(scene, endpoint);
        assert_eq!(letters.len(), 1);
        let why = letters[0].given_up.as_ref().map(|given_up| given_up.why.as_str());
        assert_eq!((letters[0].id, why), (id(1), Some("too often")));
        assert_eq!(own(scene).len(), 1);
        scene.wait_ms(31 * 24 * 60 * 60 * 1_000);
        keep(scene, endpoint, 3..=230);
        let mut parts = 1;
        while scene.service(give_up(None, "gone")).expect("a key may") {
            parts += 1;
        }
        assert_eq!(parts, 2, "a page, and what was left");
        assert!(own(scene).is_empty());
        let letters: Vec<_> = dead(scene, endpoint).into_iter().map(|row| row.id).collect();
        let newest: Vec<_> = (131..=230).map(id).collect();
        assert_eq!(letters, newest);
        assert_eq!(scene.service(CountDeadLetters).expect("a key may"), newest.len() as u64);
        scene.service(Expire).expect("a key may");
        assert_eq!(dead(scene, endpoint).len(), newest.len());
        scene.wait_ms(31 * 24 * 60 * 60 * 1_000);
        scene.service(Expire).expect("a key may");
        assert!(dead(scene, endpoint).is_empty());
    }),
    ("a revoked endpoint is told nothing, and nothing is kept for it", |scene| {
        let (endpoint, other) = (endpoint(scene), endpoint(scene));
        keep(scene, endpoint, [1, 2]);
        keep(scene, other, [1]);
        scene.service(GiveUp { endpoint, id: Some(id(1)), why: "why".into() }).expect("a key may");
        scene.service(RevokeKey { key: endpoint }).expect("a key may");
        keep(scene, endpoint, [3]);
        assert!(dead(scene, endpoint).is_empty());
        assert_eq!(own(scene).iter().map(|row| row.endpoint).collect::<Vec<_>>(), [other]);
    }),
    ("what was to be told of somebody goes with them", |scene| {
        scene.lobby(&["ann", "bob"]);
        let endpoint = endpoint(scene);
        keep(scene, endpoint, [1, 2]);
        let of_bob = Delivery { person: person("bob"), ..delivery(scene, endpoint, 3) };
        scene.service(KeepDelivery { delivery: of_bob }).expect("a key may");
        scene.service(GiveUp { endpoint, id: Some(id(1)), why: "why".into() }).expect("a key may");
        scene.erase(&By::Service, "ann");
        // A delivery that was still on its way to the store comes too late.
        keep(scene, endpoint, [4]);
        assert!(dead(scene, endpoint).is_empty());
        assert_eq!(own(scene).iter().map(|row| row.id).collect::<Vec<_>>(), [id(3)]);
    }),
    ("what was to be told of a room goes with it, but that it was erased is told", |scene| {
        let (room, endpoint) = (scene.lobby(&["ann", "bob"]), endpoint(scene));
        let keep_about = |conversation, numbers: &[u8]| {
            for &nth in numbers {
                let delivery = Delivery { conversation, ..delivery(scene, endpoint, nth) };
                scene.service(KeepDelivery { delivery }).expect("a key may");
            }
        };
        keep_about(Some(room), &[1, 2]);
        assert_eq!(own(scene)[0].conversation, Some(room));
        scene.service(GiveUp { endpoint, id: Some(id(1)), why: "why".into() }).expect("a key may");
        let erase = || scene.service(EraseConversation { which: Erased::Id(room) }).expect("a key may").done;
        assert!(!erase());
        // A delivery that was still on its way to the store comes too late.
        keep_about(Some(room), &[3]);
        keep_about(None, &[4]);
        while !erase() {}
        assert!(dead(scene, endpoint).is_empty());
        assert_eq!(own(scene).iter().map(|row| row.id).collect::<Vec<_>>(), [id(4)]);
    }),
    ("people see and change nothing of what is to be told", |scene| {
        scene.people(&["ann"]);
        let endpoint = endpoint(scene);
        keep(scene, endpoint, [1]);
        assert!(scene.ask("ann", DeadLetters { endpoint }).is_err());
        assert!(scene.ask("ann", EndDelivery { endpoint, id: id(1) }).is_err());
        assert!(scene.ask("ann", KeepDelivery { delivery: delivery(scene, endpoint, 2) }).is_err());
        assert!(scene.ask("ann", GiveUp { endpoint, id: None, why: String::new() }).is_err());
        assert!(scene.ask("ann", NoteAttempt { endpoint, id: id(1), attempts: 1 }).is_err());
        assert_eq!(own(scene).len(), 1);
    }),
];
