//! The simulation finds bugs that are planted in the hub and in the group commit: a simulation that finds nothing
//! proves nothing.

use hub::{PlantedBug, plant};
use sim::{DEFAULT_SEEDS, Failure, Report, cluster, run, stored};

type Run = fn(u64, Option<fn(&str)>) -> Result<Report, Failure>;

/// Returns the first failure of the default seeds with a bug planted. Without it the same seed must pass.
fn failure_with(bug: PlantedBug, run: Run) -> Failure {
    failure_between(|| plant(Some(bug)), || plant(None), run)
}

fn failure_between(plant: impl Fn(), take_out: impl Fn(), run: Run) -> Failure {
    plant();
    let failure = (0..DEFAULT_SEEDS).find_map(|seed| run(seed, None).err());
    take_out();
    let failure = failure.unwrap_or_else(|| panic!("it is not caught within {DEFAULT_SEEDS} seeds"));
    assert!(run(failure.seed, None).is_ok(), "seed {} fails without it", failure.seed);
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
fn an_own_tail_that_goes_unseen_is_caught() {
    let violation = failure_with(PlantedBug::OwnTailGoesUnseen, cluster::run).violation;
    assert!(violation.contains("was never given"), "{violation}");
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

#[test]
fn a_place_in_line_that_takes_the_next_with_it_is_caught() {
    let violation = failure_with(PlantedBug::GoneTakeNextTurn, cluster::run).violation;
    assert!(violation.contains("asked for a join and was never answered"), "{violation}");
}

#[test]
fn a_delivery_before_the_commit_is_caught() {
    let plant = || store::plant(Some(store::PlantedBug::AnswersBeforeCommit));
    let violation = failure_between(plant, || store::plant(None), stored::run).violation;
    let early = ["was told, and is not stored", "was told at", "was acknowledged at"];
    assert!(early.iter().any(|told| violation.contains(told)), "{violation}");
}
