//! The simulation finds bugs that are planted in the hub. What finds nothing proves nothing.

use hub::{PlantedBug, plant};
use sim::{DEFAULT_SEEDS, Failure, Report, cluster, run};

type Run = fn(u64, Option<fn(&str)>) -> Result<Report, Failure>;

/// The first failure of the default seeds with a bug planted. Without it the same seed holds every invariant.
fn failure_with(bug: PlantedBug, run: Run) -> Failure {
    plant(Some(bug));
    let failure = (0..DEFAULT_SEEDS).find_map(|seed| run(seed, None).err());
    plant(None);
    let failure = failure.unwrap_or_else(|| panic!("{bug:?} is not caught within {DEFAULT_SEEDS} seeds"));
    assert!(run(failure.seed, None).is_ok(), "seed {} fails without {bug:?}", failure.seed);
    failure
}

#[test]
fn a_cursor_that_skips_after_a_removal_is_caught() {
    let violation = failure_with(PlantedBug::CursorSkipsAfterRemoval, run).violation;
    let skipped = violation.contains("was never given") || violation.contains("which arrived earlier");
    assert!(skipped, "{violation}");
}

#[test]
fn a_join_that_sees_an_earlier_publication_is_caught() {
    let violation = failure_with(PlantedBug::JoinSeesEarlierPublication, run).violation;
    let seen = violation.contains("while it was no member") || violation.contains("which is not for it");
    assert!(seen, "{violation}");
}

#[test]
fn a_gap_that_goes_unseen_is_caught() {
    let violation = failure_with(PlantedBug::GapGoesUnseen, cluster::run).violation;
    let lost = violation.contains("was never given") || violation.contains("passed over");
    assert!(lost, "{violation}");
}

#[test]
fn a_recovery_that_delivers_twice_is_caught() {
    let violation = failure_with(PlantedBug::RecoveryDeliversTwice, cluster::run).violation;
    assert!(violation.contains("twice, or out of order"), "{violation}");
}

#[test]
fn a_lease_that_never_expires_is_caught() {
    let violation = failure_with(PlantedBug::LeaseNeverExpires, cluster::run).violation;
    assert!(violation.contains("sees"), "{violation}");
}
