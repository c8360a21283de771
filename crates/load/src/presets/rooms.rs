//! `stampede rooms`: rooms of clients who send messages at a rate, as in "Scaling a basic chat"; also a single such
//! room.

use super::{DRAIN, PresetError, Talk, above_zero, at_least_one, gathered, gathering};
use crate::cli::{Chat, Dialect, Rooms};
use crate::draw::Distribution;
use crate::scenario::source::{
    Action, Expression, Loop, Named, Nothing, Pause, Scenario, Session, Sizes, Step, Time,
};

/// The variable that holds the number of a user's room.
const ROOM: &str = "room";
/// Default topic on a Phoenix server.
const LOBBY: &str = "rooms:lobby";

/// What users do once all of them have gathered.
struct Conversation {
    users: u64,
    arrivals: f64,
    rate: f64,
    size: u64,
    seconds: u64,
}

/// Users enter rooms, evenly or by Zipf's law, wait for each other, and then each sends at the given rate.
///
/// # Errors
/// A [`PresetError`].
pub fn rooms(flags: &Rooms) -> Result<Scenario, PresetError> {
    let talk = Talk::new(&flags.crowd)?;
    let rooms = at_least_one("--rooms", flags.rooms)?;
    let users = at_least_one("--clients", flags.clients)?.saturating_mul(rooms);
    let number = match flags.zipf {
        None => format!("{{{{user_id % {rooms}}}}}"),
        Some(exponent) => format!("{{{{zipf({rooms}, {})}}}}", above_zero("--zipf", exponent)?),
    };
    let conversation = Conversation {
        users,
        arrivals: above_zero("--arrivals", flags.crowd.arrivals)?,
        rate: above_zero("--rate", flags.rate)?,
        size: flags.size,
        seconds: at_least_one("--seconds", flags.seconds)?,
    };
    let mut steps = vec![Action::Set(Named(vec![(ROOM.to_owned(), Expression::Text(number))])).into()];
    let room = format!("{{{{{ROOM}}}}}");
    steps.extend(talk.enter_one(&flags.topic_prefix, &room));
    steps.extend(conversation.steps(&talk, &format!("{}{room}", flags.topic_prefix)));
    let description =
        format!("{rooms} rooms, {} clients each, {} messages/s each", flags.clients, flags.rate);
    Ok(scenario("rooms", description, &talk, &conversation, steps))
}

/// A single room in which everyone sends.
///
/// # Errors
/// A [`PresetError`].
pub fn room(flags: &Chat) -> Result<Scenario, PresetError> {
    let topic = flags.topic.as_deref().unwrap_or(LOBBY);
    let dialect = flags.topic.as_ref().map(|_| Dialect::PhoenixV2);
    let talk = Talk::at(&flags.url, dialect)?;
    let conversation = Conversation {
        users: at_least_one("--clients", flags.clients)?,
        arrivals: 1000.0,
        rate: above_zero("--rate", flags.rate)?,
        size: flags.size,
        seconds: at_least_one("--seconds", flags.seconds)?,
    };
    let mut steps = talk.enter(topic);
    steps.extend(conversation.steps(&talk, topic));
    let description = format!("{} talkers in one room", flags.clients);
    Ok(scenario("chat", description, &talk, &conversation, steps))
}

impl Conversation {
    fn steps(&self, talk: &Talk, topic: &str) -> Vec<Step> {
        let pause = 1.0 / self.rate;
        let say = talk.say(topic, Sizes(Distribution::Constant(self.size as f64)));
        let speak = Loop {
            during: Some(Time::seconds(self.seconds)),
            steps: vec![say, Action::Pace(Pause(Distribution::Constant(pause))).into()],
            ..Loop::default()
        };
        vec![
            Action::Barrier(gathered(self.users, self.arrivals)).into(),
            // A random initial pause keeps users from sending in step.
            Action::Think(Pause(Distribution::Uniform(0.0, pause))).into(),
            Action::Loop(speak).into(),
            Action::Stay(Nothing {}).into(),
        ]
    }
}

fn scenario(
    name: &str,
    description: String,
    talk: &Talk,
    conversation: &Conversation,
    steps: Vec<Step>,
) -> Scenario {
    Scenario {
        name: name.to_owned(),
        description: Some(description),
        target: Some(talk.target()),
        phases: vec![gathering(conversation.users, conversation.arrivals)],
        sessions: vec![Session { name: "talker".to_owned(), weight: 1.0, steps }],
        drain: DRAIN,
        ..Scenario::default()
    }
}
