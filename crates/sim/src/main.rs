//! `sim`: runs seeds, shows progress, and names the first one that fails.

#![allow(clippy::print_stdout, reason = "a command speaks on standard output")]

use clap::Parser;
use sim::{DEFAULT_SEEDS, Failure, run, sweep};
use std::io::{IsTerminal, Write, stderr};
use std::process::ExitCode;

/// Simulates shards of the hub, clusters of them, and stored rooms, from seeds and checks what every client is told.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// How many seeds to run.
    #[arg(long, default_value_t = DEFAULT_SEEDS)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Run this seed only.
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Of that seed, the cluster's run.
    #[arg(long, requires = "seed")]
    cluster: bool,
    /// Of that seed, the run with stored rooms.
    #[arg(long, requires = "seed", conflicts_with = "cluster")]
    stored: bool,
    /// Print everything that happens.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Plant a bug, to see it found. Needs `--seed`.
    #[cfg(feature = "planted-bugs")]
    #[arg(long, requires = "seed")]
    plant: Option<Plant>,
}

#[cfg(feature = "planted-bugs")]
#[derive(Clone, Copy, clap::ValueEnum)]
enum Plant {
    /// A cursor that skips after a removal.
    Cursor,
    /// A join that sees an earlier publication.
    Join,
    /// No check for gaps (with `--cluster`, as the following).
    Gap,
    /// A recovery that delivers twice.
    Twice,
    /// A lease that never expires.
    Lease,
    /// A place in the line of joins that takes the next one with it.
    Line,
    /// Answers, and news, before the commit (with `--stored`).
    Commit,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.seed {
        Some(seed) => one(seed, &arguments),
        None => many(arguments.from, arguments.seeds),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            explain(&failure, arguments.trace);
            ExitCode::FAILURE
        }
    }
}

fn one(seed: u64, arguments: &Arguments) -> Result<(), Failure> {
    #[cfg(feature = "planted-bugs")]
    if let Some(bug) = arguments.plant {
        plant(bug);
    }
    let sink: Option<fn(&str)> = arguments.trace.then_some(|line| println!("{line}"));
    let report = match (arguments.cluster, arguments.stored) {
        (true, _) => sim::cluster::run(seed, sink)?,
        (_, true) => sim::stored::run(seed, sink)?,
        (false, false) => run(seed, sink)?,
    };
    println!(
        "seed {seed}: {} events, {} deliveries, {} drops, {} recoveries, {} in line, trace {:016x}",
        report.lines, report.deliveries, report.drops, report.recoveries, report.queued, report.hash
    );
    Ok(())
}

#[cfg(feature = "planted-bugs")]
fn plant(bug: Plant) {
    let of_hub = match bug {
        Plant::Cursor => hub::PlantedBug::CursorSkipsAfterRemoval,
        Plant::Join => hub::PlantedBug::JoinSeesEarlierPublication,
        Plant::Gap => hub::PlantedBug::GapGoesUnseen,
        Plant::Twice => hub::PlantedBug::RecoveryDeliversTwice,
        Plant::Line => hub::PlantedBug::GoneTakeNextTurn,
        Plant::Lease => hub::PlantedBug::LeaseNeverExpires,
        Plant::Commit => return store::plant(Some(store::PlantedBug::AnswersBeforeCommit)),
    };
    hub::plant(Some(of_hub));
}

fn many(from: u64, seeds: u64) -> Result<(), Failure> {
    let shows_progress = stderr().is_terminal();
    let outcome = sweep(from..from.saturating_add(seeds), |done| {
        if shows_progress {
            show_progress(done, seeds);
        }
    });
    if shows_progress {
        eprintln!();
    }
    let total = outcome?;
    println!(
        "{} seeds from {from}: {} events, {} deliveries, {} drops, {} recoveries, {} in line, every invariant held",
        total.seeds, total.lines, total.deliveries, total.drops, total.recoveries, total.queued
    );
    Ok(())
}

fn show_progress(done: u64, seeds: u64) {
    const WIDTH: u64 = 40;
    let filled = (done * WIDTH / seeds.max(1)) as usize;
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH as usize - filled));
    let mut out = stderr().lock();
    // A progress bar that cannot be drawn is no reason to stop.
    let _ = write!(out, "\r{bar} {done}/{seeds} seeds").and_then(|()| out.flush());
}

fn explain(failure: &Failure, traced: bool) {
    if !traced {
        println!("The end of its trace:");
        failure.tail.iter().for_each(|line| println!("  {line}"));
    }
    println!("Seed {} failed: {}", failure.seed, failure.violation);
    println!("Replay: {}", failure.replay());
}
