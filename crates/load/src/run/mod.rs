//! One run from its plan to its results: the machine is looked at, the users are played, counted, watched and shown, and
//! what it comes to is written.
//!
//! Owns the order of things. It neither plays nor counts nor judges.

mod error;
mod facts;
mod job;
mod local;
mod names;
mod results;
mod signals;
mod views;
mod watch;

pub use error::RunError;
pub use job::{Job, Settings, Show};
pub use results::{Results, report_run};
pub use signals::Signals;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::live::{Board, Status};
use crate::monitor::{Monitor, MonitorConfig};
use crate::record::RunFolder;
use local::Local;
use views::Views;

/// Between looking at the machine and the first user: the threads of all shards have started by then.
const LEAD_TIME: Duration = Duration::from_millis(100);

/// Plays a job to its end and writes its results.
///
/// # Errors
/// A [`RunError`]. What the job's users met with is no error but a result.
pub fn run(job: &Job, settings: &Settings, signals: &Signals) -> Result<Results, RunError> {
    let machine = facts::machine(job, settings)?;
    let folder = RunFolder::create(&settings.out, &job.plan.name)?;
    folder.write_scenario(&job.yaml)?;
    let (start, started) = (Instant::now() + LEAD_TIME, SystemTime::now() + LEAD_TIME);
    let monitor = Monitor::start(MonitorConfig {
        pids: settings.pids.clone(),
        scrapes: settings.scrapes.clone(),
        figures: settings.figures.clone(),
        ..MonitorConfig::new(start)
    })?;
    let mut facts = facts::beginning(job, started, machine);
    let local = Local::start(job, settings, &folder, start, started)?;
    facts.sources = local.sources();
    folder.write_facts(&facts)?;

    let board = Arc::new(Board::new(Status::starting(&job.plan.name, &job.target(), job.plan.seed)));
    let views = Views::open(&board, settings)?;
    watch::watch(&local, &monitor, &board, job, signals, start);
    let played = local.finish()?;
    let watched = monitor.finish();
    facts::ending(&mut facts, &played, &watched, start);
    let mut results = results::count(folder, played.statistics, &facts, played.losses)?;
    watch::publish_end(&board, &results);
    views.close();
    // Pictures take a moment; whoever watched has seen the end by now.
    results.write_report()?;
    Ok(results)
}
