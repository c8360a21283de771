//! The preset runs.

use std::time::Duration;

use super::exit::{Done, Failure};
use super::job::Written;
use super::run::{play, play_job};
use crate::cli::{C10k, Churn, FanOut, Hold, Http, Rooms, Storm};
use crate::doctor::visits;
use crate::presets;
use crate::report;
use crate::run::{Job, Results, Settings, Show};
use crate::statistics::wsdemo;

pub(super) fn c10k(flags: &C10k) -> Done {
    let written = Written::ready_made(presets::c10k(flags), &flags.run.overrides)?;
    if flags.run.print_scenario {
        return play(written, &flags.run, |_| String::new());
    }
    let job = Job { keeps_samples: true, ..written.with(&flags.run.overrides).job()? };
    let settings = Settings::new(&flags.run, &job.plan);
    if !flags.run.json {
        eprintln!("Running test with {} clients for {} seconds", flags.clients, flags.seconds);
    }
    let uses_reservoir = flags.reservoir;
    play_job(&job, &settings, &flags.run, move |results| {
        let all = || wsdemo::C10k::of_population(&results.statistics);
        let sampled = || wsdemo::C10k::of_samples(&results.statistics);
        let result = if uses_reservoir { sampled().unwrap_or_else(all) } else { all() };
        format!("\nResult: {result}\n")
    })
}

pub(super) fn hold(flags: &Hold) -> Done {
    let scenario = match &flags.http {
        Some(file) => presets::hold_http(flags, file),
        None => presets::hold(flags),
    };
    let written = Written::ready_made(scenario, &flags.run.overrides)?;
    if flags.run.print_scenario {
        return play(written, &flags.run, |_| String::new());
    }
    let job = written.with(&flags.run.overrides).job()?;
    let mut settings = Settings::new(&flags.run, &job.plan);
    if settings.show == Show::View {
        settings.show = Show::Lines(flags.every.max(1));
    }
    play_job(&job, &settings, &flags.run, |results| memory_log(results, flags.every.max(1)))
}

/// Time, memory and connections of each server, in the format of the log of the original test's shell loop; repeats the
/// lines printed during the run as one table.
fn memory_log(results: &Results, every_seconds: u64) -> String {
    let mut text = String::new();
    let rows = results.run.series.iter().filter(|row| u64::from(row.second).is_multiple_of(every_seconds));
    for (row, server) in rows.flat_map(|row| row.servers.iter().map(move |server| (row, server))) {
        if text.is_empty() {
            text.push_str("\n  second  connected    server RSS KiB  server\n");
        }
        let rss = server.rss_bytes.map_or("-".to_owned(), |bytes| (bytes / 1024).to_string());
        // Each waiting HTTP request is one user.
        let connected = if row.connected > 0 { row.connected } else { row.users };
        text.push_str(&format!("{:>8} {connected:>10} {rss:>17}  {}\n", row.second, server.name));
    }
    text
}

pub(super) fn fan_out(flags: &FanOut) -> Done {
    play(Written::ready_made(presets::fan_out(flags), &flags.run.overrides)?, &flags.run, |_| String::new())
}

pub(super) fn rooms(flags: &Rooms) -> Done {
    play(Written::ready_made(presets::rooms(flags), &flags.run.overrides)?, &flags.run, |_| String::new())
}

pub(super) fn churn(flags: &Churn) -> Done {
    play(Written::ready_made(presets::churn(flags), &flags.run.overrides)?, &flags.run, |_| String::new())
}

pub(super) fn storm(flags: &Storm) -> Done {
    play(Written::ready_made(presets::storm(flags), &flags.run.overrides)?, &flags.run, |_| String::new())
}

pub(super) fn http(flags: &Http) -> Done {
    let users = match (flags.members_per_hour, flags.visit_minutes) {
        (Some(members), Some(minutes)) => {
            let visit = Duration::try_from_secs_f64(minutes * 60.0)
                .map_err(|_| Failure::usage(format!("--visit-minutes {minutes}: must be 0 or more")))?;
            let users = visits::users(members, visit).map_err(Failure::usage)?;
            eprintln!("{members} members per hour × {minutes} minutes per visit: {users} concurrent users");
            users
        }
        (None, _) | (_, None) => flags.concurrent,
    };
    let written = Written::ready_made(presets::http(flags, users), &flags.run.overrides)?;
    // The report of a run with HTTP already has Siege's lines.
    play(written, &flags.run, |results| match results.run.summary.counts.http {
        0 => format!("\n{}", report::siege(&results.run.summary)),
        1.. => String::new(),
    })
}
