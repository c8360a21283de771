//! The simulation finds bugs that are planted in the hub. What finds nothing proves nothing.

use hub::{PlantedBug, plant};
use sim::{DEFAULT_SEEDS, Failure, run};

/// The first failure of the default seeds with a bug planted. Without it the same seed holds every invariant.
fn failure_with(bug: PlantedBug) -> Failure {
    plant(Some(bug));
    let failure = (0..DEFAULT_SEEDS).find_map(|seed| run(seed, None).err());
    plant(None);
    let failure = failure.unwrap_or_else(|| panic!("{bug:?} is not caught within {DEFAULT_SEEDS} seeds"));
    assert!(run(failure.seed, None).is_ok(), "seed {} fails without {bug:?}", failure.seed);
    failure
}

#[test]
fn a_cursor_that_skips_after_a_removal_is_caught() {
    let violation = failure_with(PlantedBug::CursorSkipsAfterRemoval).violation;
    let skipped = violation.contains("was never given") || violation.contains("which arrived earlier");
    assert!(skipped, "{violation}");
}

#[test]
fn a_join_that_sees_an_earlier_publication_is_caught() {
    let violation = failure_with(PlantedBug::JoinSeesEarlierPublication).violation;
    let seen = violation.contains("while it was no member") || violation.contains("which is not for it");
    assert!(seen, "{violation}");
}
