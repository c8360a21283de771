//! `stampede fanout`: one channel, x users, y messages.

use super::{DRAIN, PresetError, Talk, above_zero, at_least_one, gathered, gathering};
use crate::cli::FanOut;
use crate::draw::Distribution;
use crate::scenario::source::{Action, Loop, Nothing, Numbers, Pause, Phase, Scenario, Session, Sizes};

const LISTENER: &str = "listener";
const PUBLISHER: &str = "publisher";

/// All users join one room; then one of them publishes at a steady rate, and all stay until the last message has
/// arrived or is lost.
///
/// # Errors
/// A [`PresetError`].
pub fn fan_out(flags: &FanOut) -> Result<Scenario, PresetError> {
    let talk = Talk::new(&flags.crowd)?;
    let arrivals = above_zero("--arrivals", flags.crowd.arrivals)?;
    let rate = above_zero("--rate", flags.rate)?;
    let messages = at_least_one("--messages", flags.messages)?;
    if flags.users < 2 {
        return Err(PresetError::Number("--users", flags.users.to_string(), "2 or more"));
    }
    let meet = Action::Barrier(gathered(flags.users, arrivals));
    let stay = Action::Stay(Nothing {});
    let publication = talk.say(&flags.topic, Sizes(Distribution::Constant(flags.size as f64)));
    let publish = Loop {
        times: Some(Numbers(Distribution::Constant(messages as f64))),
        steps: vec![Action::Pace(Pause(Distribution::Constant(1.0 / rate))).into(), publication],
        ..Loop::default()
    };
    let mut listen = talk.enter(&flags.topic);
    let mut speak = listen.clone();
    listen.extend([meet.clone().into(), stay.clone().into()]);
    speak.extend([meet.into(), Action::Loop(publish).into(), stay.into()]);
    let session = |name: &str, steps| Session { name: name.to_owned(), weight: 1.0, steps };
    let only = |name: &str| [(name.to_owned(), 1.0)].into();
    Ok(Scenario {
        name: "fanout".to_owned(),
        description: Some(format!("One channel, {} users, {messages} messages", flags.users)),
        target: Some(talk.target()),
        phases: vec![
            Phase { weights: only(LISTENER), ..gathering(flags.users - 1, arrivals) },
            Phase { name: Some("the publisher".to_owned()), weights: only(PUBLISHER), ..Phase::burst(1) },
        ],
        sessions: vec![session(LISTENER, listen), session(PUBLISHER, speak)],
        drain: DRAIN,
        ..Scenario::default()
    })
}
