//! `stampede churn`: users who come, talk at random, and leave.

use super::{DRAIN, PresetError, Talk, above_zero, at_least_one};
use crate::cli::Churn;
use crate::draw::Distribution;
use crate::scenario::source::{
    Action, Close, Expression, Loop, Named, Numbers, Pause, Phase, Rate, Scenario, Session, Sizes, Time,
};

/// The variable that holds the number of a user's room.
const ROOM: &str = "room";
/// Distribution of message lengths: median and spread.
const MESSAGE_BYTES: Distribution = Distribution::LogNormal(80.0, 0.6);

/// Independent arrivals; each user stays for an exponentially distributed time and sends messages after exponentially
/// distributed pauses.
///
/// # Errors
/// A [`PresetError`].
pub fn churn(flags: &Churn) -> Result<Scenario, PresetError> {
    let talk = Talk::new(&flags.crowd)?;
    let rooms = at_least_one("--rooms", flags.rooms)?;
    let per_second = above_zero("--arrivals", flags.crowd.arrivals)?;
    let (visit, pause) = (above_zero("--visit", flags.visit)?, above_zero("--pause", flags.pause)?);
    let room = format!("{{{{{ROOM}}}}}");
    let number = Expression::Draw(Numbers(Distribution::Zipf { count: rooms, exponent: 0.8 }));
    let chatter = Loop {
        // This many messages with such pauses make a visit of that mean length.
        times: Some(Numbers(Distribution::Exponential(visit / pause))),
        steps: vec![
            Action::Think(Pause(Distribution::Exponential(pause))).into(),
            talk.say(&format!("{}{room}", flags.topic_prefix), Sizes(MESSAGE_BYTES)),
        ],
        ..Loop::default()
    };
    let mut steps = vec![Action::Set(Named(vec![(ROOM.to_owned(), number)])).into()];
    steps.extend(talk.enter_one(&flags.topic_prefix, &room));
    steps.extend([Action::Loop(chatter).into(), Action::Close(Close::default()).into()]);
    Ok(Scenario {
        name: "churn".to_owned(),
        description: Some("People who come, talk at random and leave".to_owned()),
        target: Some(talk.target()),
        phases: vec![Phase {
            name: Some("coming and going".to_owned()),
            poisson: Some(Rate { per_second }),
            duration: Some(Time::seconds(at_least_one("--seconds", flags.seconds)?)),
            ..Phase::default()
        }],
        sessions: vec![Session { name: "visitor".to_owned(), weight: 1.0, steps }],
        drain: DRAIN,
        ..Scenario::default()
    })
}
