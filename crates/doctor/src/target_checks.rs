//! Checks of the servers under test.

use super::amounts::{grouped, milliseconds};
use super::checks::{Check, State};
use super::reading::Reading;
use super::scene::Scene;
use super::target::{ProcessFacts, TargetFacts};

/// A name that takes longer to resolve delays whoever resolves it more than once.
const RESOLUTION_US_MAX: u64 = 100_000;

/// Returns the checks of all targets, in their order.
pub(super) fn target_checks(scene: &Scene<'_>) -> Vec<Check> {
    let checks =
        |target| [name(target), reach(target), http(target), process(scene, target), metrics(target)];
    scene.requirements.targets.iter().flat_map(checks).flatten().collect()
}

fn name(target: &TargetFacts) -> Option<Check> {
    let subject = target.title();
    match &target.resolution {
        Reading::Unknown { unknown } => {
            let text = format!("its name does not resolve: {unknown}");
            let remedy = format!("check the name: getent ahosts {}", target.host);
            Some(Check::new(&subject, State::Stop, text).with(remedy))
        }
        Reading::Known(found) if found.time_us > RESOLUTION_US_MAX => {
            let text = format!(
                "resolving its name took {}; this happens once, before the run, and is not part of any \
                 figure",
                milliseconds(found.time_us)
            );
            Some(Check::new(&subject, State::Note, text))
        }
        Reading::Known(found) if found.addresses.len() > 1 => {
            let first = found.addresses.first()?;
            let text = format!(
                "its name has {} addresses; all clients go to the first, {first}",
                found.addresses.len()
            );
            Some(Check::new(&subject, State::Note, text))
        }
        Reading::Known(_) => None,
    }
}

fn reach(target: &TargetFacts) -> Option<Check> {
    target.address()?;
    let subject = target.title();
    Some(match &target.connect_us {
        Reading::Known(time_us) => {
            Check::new(&subject, State::Ok, format!("reached by TCP in {}", milliseconds(*time_us)))
        }
        Reading::Unknown { unknown } => {
            Check::new(&subject, State::Stop, format!("cannot be reached: {unknown}"))
                .with("start the server, or check the port and the firewall")
        }
    })
}

fn http(target: &TargetFacts) -> Option<Check> {
    target.connect_us.known()?;
    let subject = target.title();
    match &target.http {
        Reading::Known(answer) => {
            let server = answer.server.as_deref().unwrap_or("no Server header");
            Some(Check::new(&subject, State::Ok, format!("answers GET / with {} ({server})", answer.status)))
        }
        Reading::Unknown { unknown } => {
            let text = format!("does not answer GET /: {unknown}; it may still support WebSocket");
            Some(Check::new(&subject, State::Note, text))
        }
    }
}

fn process(scene: &Scene<'_>, target: &TargetFacts) -> Option<Check> {
    let subject = target.title();
    let process = match target.process.as_ref()? {
        Reading::Known(process) => process,
        Reading::Unknown { unknown } => {
            let text = format!("cannot read its process: {unknown}");
            return Some(
                Check::new(&subject, State::Caution, text)
                    .with("use the id of a running process: pgrep -a NAME"),
            );
        }
    };
    let ProcessFacts { pid, name, .. } = process;
    let limit = process.descriptor_limit.known().copied().flatten()?;
    let share = scene.requirements.clients / (scene.requirements.targets.len().max(1) as u64);
    if limit > share {
        let text = format!("its process {pid} ({name}) can open {} descriptors", grouped(limit));
        return Some(Check::new(&subject, State::Ok, text));
    }
    let text = format!(
        "its process {pid} ({name}) can open {} descriptors in a table: fewer than its {} clients, unless it \
         uses several tables",
        grouped(limit),
        grouped(share)
    );
    let raised = share.saturating_add(1_024);
    let remedy =
        format!("prlimit --pid {pid} --nofile={raised}:{raised} (as root; fs.nr_open must allow it)");
    Some(Check::new(&subject, State::Caution, text).with(remedy))
}

fn metrics(target: &TargetFacts) -> Option<Check> {
    let subject = target.title();
    Some(match target.metrics.as_ref()? {
        Reading::Known(_) => Check::new(&subject, State::Ok, "its metrics can be scraped"),
        Reading::Unknown { unknown } => {
            Check::new(&subject, State::Caution, format!("cannot scrape its metrics: {unknown}"))
                .with("check the URL in a browser or with curl")
        }
    })
}
