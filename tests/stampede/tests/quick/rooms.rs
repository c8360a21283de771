//! Rooms that the URL names, some of them hot.

use stampede_tests::{EventLog, Lab, rooms};

const ROOMS: u64 = 8;
const USERS: u64 = 40 * ROOMS;
/// Of seven degrees of freedom: what is drawn by the law is above it once in a thousand seeds, and this seed is not such.
const CHI_SQUARE_MAX: f64 = 24.3;

#[test]
fn hot_rooms_are_as_hot_as_zipfs_law_has_it_in_the_event_log_as_well() {
    let (server, _) = rooms();
    let url = format!("{}/chat", server.url());
    let crowd = ["--rooms", "8", "--clients", "40", "--zipf", "1", "--arrivals", "500"];
    let talk = ["--rate", "1", "--seconds", "1", "--seed", "7"];
    let ended = Lab::new().run(&[&["rooms", &url][..], &crowd, &talk].concat());
    let (summary, log) = (ended.summary(), ended.event_log());
    assert_eq!(summary.count("connects"), USERS, "{}", ended.words());

    let people = by_room(&log, "connect");
    assert_eq!(people.iter().sum::<u64>(), USERS, "each connect names its room: {people:?}");
    let harmonic: f64 = (1..=ROOMS).map(|rank| 1.0 / rank as f64).sum();
    let by_law = chi_square(&people, |rank| 1.0 / rank as f64 / harmonic);
    assert!(by_law < CHI_SQUARE_MAX, "{by_law}: {people:?}");
    let even = chi_square(&people, |_| 1.0 / ROOMS as f64);
    assert!(even > CHI_SQUARE_MAX, "{even}: {people:?}");

    // Who is in a room gets all that is said in it: the hot ones make most of the deliveries.
    let said = by_room(&log, "send");
    assert_eq!(said.iter().sum::<u64>(), summary.count("sent"), "{said:?}");
    let deliveries: u64 = said.iter().zip(&people).map(|(said, people)| said * people).sum();
    assert_eq!(summary.count("expected"), deliveries, "{said:?} {people:?}");
    summary.assert_adds_up();
    assert_eq!(crate::recounted(&Lab::new(), ended.path()).counts(), summary.counts());
}

/// Rows of a kind in each room.
fn by_room(log: &EventLog, kind: &str) -> Vec<u64> {
    let count = |rank: u64| log.count(&[("kind", kind), ("room", &format!("/chat/{rank}"))]);
    (1..=ROOMS).map(count).collect()
}

fn chi_square(counts: &[u64], share: impl Fn(u64) -> f64) -> f64 {
    let total: u64 = counts.iter().sum();
    let one = |(rank, count): (u64, &u64)| {
        let expected = share(rank) * total as f64;
        (*count as f64 - expected).powi(2) / expected
    };
    (1..).zip(counts).map(one).sum()
}
