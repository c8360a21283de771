//! One run from its plan to its results: the machine is examined; the users are played, counted, monitored and shown;
//! the results are written.
//!
//! Owns the order of these stages. It does not itself play, count or judge.

mod error;
mod facts;
mod findings;
mod job;
mod local;
mod names;
mod players;
mod results;
mod sampling;
mod signals;
mod views;
mod watch;

pub use error::RunError;
pub use job::{Job, Settings, Show};
pub use results::{Results, kept_run, report_run};
pub use signals::Signals;

pub(crate) use local::{Assignment, Local};
pub(crate) use sampling::Sampling;

use std::io;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use crate::live::{Board, Status};
use crate::monitor::MonitorConfig;
use crate::record::RunFolder;
use players::Ready;
use views::Views;

/// Plays a job to its end and writes its results.
///
/// # Errors
/// A [`RunError`]. What the job's users experienced is a result, not an error.
pub fn run(job: &Job, settings: &Settings, signals: &Signals) -> Result<Results, RunError> {
    let board = Arc::new(Board::new(Status::starting(&job.plan.name, &job.target(), job.plan.seed)));
    let mut views = Views::bind(&board, settings)?;
    let ready = Ready::new(job, settings)?;
    // An unwritable standard error must not prevent the run.
    let _ = findings::say(&ready.found(), settings.show, &mut io::stderr());
    let folder = RunFolder::create(&settings.out, &job.plan.name)?;
    folder.write_scenario(&job.yaml)?;
    let lead_time = ready.lead_time();
    let (start, started) = (Instant::now() + lead_time, SystemTime::now() + lead_time);
    let mut sampling = Sampling::start(MonitorConfig {
        pids: settings.pids.clone(),
        scrapes: settings.scrapes.clone(),
        figures: settings.figures.clone(),
        ..MonitorConfig::new(start)
    })?;
    let mut facts = facts::beginning(job, started, ready.machines());
    let players = ready.start(job, settings, &folder, start, started)?;
    facts.sources = players.sources();
    folder.write_facts(&facts)?;

    views.show(&board, settings.show)?;
    watch::watch(&players, &mut sampling, &board, job, signals, start);
    let played = players.finish(&sampling.finish())?;
    facts::ending(&mut facts, &played);
    let notices = played.notices.into_iter().chain(played.losses).collect();
    let mut results = results::count(folder, played.statistics, &facts, notices)?;
    watch::publish_end(&board, &results);
    views.close_screen();
    // Rendering the charts takes a moment; meanwhile the pages already show the final state.
    results.write_report()?;
    views.close();
    Ok(results)
}
