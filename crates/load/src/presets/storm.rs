//! `stampede storm`: all users are cut off at once and reconnect at once.

use super::{DRAIN, PresetError, Talk, above_zero, at_least_one, gathered, gathering};
use crate::cli::Storm;
use crate::draw::Distribution;
use crate::scenario::source::{
    Action, Barrier, Loop, Nothing, Numbers, Pause, Scenario, Session, Time, Transaction,
};

/// The label under which reconnecting is reported.
pub const BACK: &str = "back after a storm";

/// All users gather; in each storm all cut their connections at the same moment and reconnect at once.
///
/// # Errors
/// A [`PresetError`].
pub fn storm(flags: &Storm) -> Result<Scenario, PresetError> {
    let talk = Talk::new(&flags.crowd)?;
    let users = at_least_one("--users", flags.users)?;
    let storms = at_least_one("--storms", flags.storms)?;
    let arrivals = above_zero("--arrivals", flags.crowd.arrivals)?;
    let all = |name: &str| Barrier { name: name.to_owned(), ..gathered(users, arrivals) };
    let enter = talk.enter(&flags.topic);
    let back = Transaction { name: BACK.to_owned(), steps: enter.clone() };
    let weather = Loop {
        times: Some(Numbers(Distribution::Constant(storms as f64))),
        steps: vec![
            Action::Think(Pause(Distribution::Constant(Time::seconds(flags.calm).0.as_secs_f64()))).into(),
            Action::Barrier(all("storm")).into(),
            Action::Cut(Nothing {}).into(),
            Action::Transaction(back).into(),
        ],
        ..Loop::default()
    };
    let mut steps = enter;
    steps.extend([
        Action::Barrier(all(super::GATHERED)).into(),
        Action::Loop(weather).into(),
        Action::Stay(Nothing {}).into(),
    ]);
    Ok(Scenario {
        name: "storm".to_owned(),
        description: Some(format!("{users} users, cut at once {storms} times")),
        target: Some(talk.target()),
        phases: vec![gathering(users, arrivals)],
        sessions: vec![Session { name: "survivor".to_owned(), weight: 1.0, steps }],
        drain: DRAIN,
        ..Scenario::default()
    })
}
