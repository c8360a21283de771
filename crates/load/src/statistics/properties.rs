//! Property tests of the statistics over arbitrary streams.

use proptest::prelude::*;

use super::example::stream;
use super::{RunFacts, Statistics};
use crate::observe::{Kind, Observation, Outcome};

fn counted(stream: &[Observation]) -> Statistics {
    let mut statistics = Statistics::new();
    stream.iter().for_each(|seen| statistics.observe(seen));
    statistics
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn parts_counted_apart_and_merged_are_the_whole(
        seed: u64,
        things in 0..300_u32,
        cuts in prop::collection::vec(0..500_usize, 0..4),
    ) {
        let stream = stream(seed, things, 10);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
        cuts.sort_unstable();
        let mut merged = Statistics::new();
        let mut from = 0;
        for to in cuts.into_iter().chain([stream.len()]) {
            merged.merge(&counted(&stream[from..to]));
            from = to;
        }
        let whole = counted(&stream);
        prop_assert_eq!(merged.summary(&RunFacts::default()), whole.summary(&RunFacts::default()));
        prop_assert_eq!(merged.series(), whole.series());
        prop_assert_eq!(merged, whole);
    }

    #[test]
    fn what_is_written_for_the_controller_is_read_again(seed: u64, things in 0..300_u32) {
        let whole = counted(&stream(seed, things, 10));
        let text = serde_json::to_string(&whole).expect("writable");
        let read: Statistics = serde_json::from_str(&text).expect("readable");
        prop_assert_eq!(read.series(), whole.series());
        prop_assert_eq!(read, whole);
    }

    #[test]
    fn the_rows_add_up_to_the_totals(seed: u64, things in 0..300_u32) {
        let whole = counted(&stream(seed, things, 10));
        let (counts, rows) = (whole.counts(), whole.series());
        for (total, of_rows) in [
            (counts.users, rows.iter().map(|row| row.arrivals).sum::<u64>()),
            (counts.connects, rows.iter().map(|row| row.connects).sum()),
            (counts.sent, rows.iter().map(|row| row.sent).sum()),
            (counts.received, rows.iter().map(|row| row.received).sum()),
            (counts.bytes_sent, rows.iter().map(|row| row.bytes_sent).sum()),
            (counts.bytes_received, rows.iter().map(|row| row.bytes_received).sum()),
            (counts.http, rows.iter().map(|row| row.http).sum()),
            (counts.errors, rows.iter().map(|row| row.errors).sum()),
            (counts.delivered + counts.late, rows.iter().map(|row| row.latency.count).sum()),
        ] {
            prop_assert_eq!(total, of_rows);
        }
        for row in &rows {
            prop_assert_eq!(&whole.row(row.second), row);
        }
        let errors: u64 = whole.errors(&RunFacts::default()).iter().map(|error| error.count).sum();
        prop_assert_eq!(errors, counts.errors);
    }
}

#[test]
fn deliveries_add_up_when_each_is_accounted_for() {
    let at = |at_ms: u64| at_ms * 1_000_000;
    let of = |kind, outcome, count| Observation { kind, outcome, count, ..super::example::observation() };
    let mut statistics = counted(&[
        of(Kind::Arrival, Outcome::Ok, 0),
        of(Kind::Send, Outcome::Ok, 6),
        Observation { at: at(1), ..of(Kind::Receive, Outcome::Ok, 0) },
        Observation { at: at(2), ..of(Kind::Receive, Outcome::Reordered, 0) },
        Observation { at: at(2), ..of(Kind::Receive, Outcome::Duplicate, 0) },
        Observation { at: at(3), ..of(Kind::Receive, Outcome::Unexpected, 0) },
        Observation { at: at(4), ..of(Kind::Receive, Outcome::Unstamped, 0) },
        Observation { at: at(9), ..of(Kind::Receive, Outcome::Late, 0) },
        of(Kind::Missing, Outcome::Lost, 2),
        of(Kind::Missing, Outcome::InFlight, 1),
    ]);
    let counts = statistics.counts();
    assert_eq!(
        (counts.expected, counts.delivered, counts.lost, counts.late, counts.in_flight),
        (6, 2, 2, 1, 1)
    );
    assert_eq!((counts.duplicates, counts.reordered, counts.unexpected, counts.unstamped), (1, 1, 1, 1));
    assert_eq!((counts.received, counts.errors), (6, 0));
    assert!(counts.adds_up());
    assert!(statistics.summary(&RunFacts::default()).verdict.valid);

    statistics.observe(&of(Kind::Missing, Outcome::Lost, 1));
    let summary = statistics.summary(&RunFacts::default());
    assert!(!summary.verdict.valid);
    assert!(
        summary.verdict.reasons[0].contains("6 deliveries were expected"),
        "{:?}",
        summary.verdict.reasons
    );
}

#[test]
fn a_crowd_that_came_and_went_within_a_second_was_there() {
    let of = |kind, at| Observation { kind, at, ..super::example::observation() };
    let mut statistics = Statistics::new();
    for user in 0..16 {
        statistics.observe(&of(Kind::Connect, user));
    }
    for user in 0..16 {
        statistics.observe(&of(Kind::Disconnect, 1000 + user));
    }
    assert_eq!(statistics.counts().connected_max, 16);
    assert_eq!(statistics.series()[0].connected, 0);
}

#[test]
fn the_number_of_messages_does_not_change_the_size() {
    let size_of = |messages: u64| {
        let mut statistics = Statistics::new();
        for message in 0..messages {
            let began = message % 10_000 * 1_000_000;
            let of_message = Observation {
                message,
                began,
                intended: began,
                at: began + 50_000,
                room: 1,
                ..super::example::observation()
            };
            statistics.observe(&Observation { kind: Kind::Send, count: 2, ..of_message });
            statistics.observe(&Observation { kind: Kind::Receive, ..of_message });
            statistics.observe(&Observation { kind: Kind::Receive, ..of_message });
        }
        serde_json::to_string(&statistics).expect("writable").len()
    };
    let (few, many) = (size_of(20_000), size_of(200_000));
    assert!(many < few + few / 5, "{few} and {many} bytes");
}
