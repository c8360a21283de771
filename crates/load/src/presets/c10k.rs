//! `stampede c10k`: the C10K WebSocket test, an exact equivalent of its runner (ericmoritz/wsdemo, June 2012).

use super::PresetError;
use super::at_least_one;
use crate::cli::C10k;
use crate::scenario::source::{
    Action, Audience, Connect, Loop, Pause, Phase, Rate, Scenario, Send, Session, Time,
};

/// The original counted a slower TCP connect as a timeout.
const CONNECT_TIMEOUT: Time = Time::seconds(2);
/// One client per millisecond.
const CLIENTS_PER_SECOND: Rate = Rate { per_second: 1000.0 };

/// One client starts per millisecond; each sends the time as soon as its connection is open and every second after
/// that, without waiting for the echo, until the test is over.
///
/// # Errors
/// A [`PresetError`].
pub fn c10k(flags: &C10k) -> Result<Scenario, PresetError> {
    let clients = at_least_one("--clients", flags.clients)?;
    let seconds = at_least_one("--seconds", flags.seconds)?;
    let host = if flags.host.contains(':') { format!("[{}]", flags.host) } else { flags.host.clone() };
    let connect = Connect {
        path: flags.path.clone(),
        connect_timeout: CONNECT_TIMEOUT,
        // The original waited for the response for the whole duration of the test.
        handshake_timeout: Time::seconds(seconds),
        ..Connect::default()
    };
    let ping = Send { c10k_ping: true, audience: Audience::Echo, ..Send::default() };
    let beat = Action::Pace(Pause(crate::draw::Distribution::Constant(1.0)));
    let echo = Loop { steps: vec![Action::Send(ping).into(), beat.into()], ..Loop::default() };
    Ok(Scenario {
        name: "c10k".to_owned(),
        description: Some("The C10K WebSocket test of 2012".to_owned()),
        target: Some(format!("ws://{host}:{}", flags.port)),
        phases: vec![Phase {
            name: Some("one client each millisecond".to_owned()),
            max_users: Some(clients),
            ..Phase::constant(CLIENTS_PER_SECOND)
        }],
        duration: Some(Time::seconds(seconds)),
        sessions: vec![Session {
            name: "echo".to_owned(),
            weight: 1.0,
            steps: vec![Action::Connect(connect).into(), Action::Loop(echo).into()],
        }],
        ..Scenario::default()
    })
}
