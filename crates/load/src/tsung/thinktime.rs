//! `thinktime`: pauses between requests, and waiting for the other users.

use super::document::Element;
use super::findings::Findings;
use super::sessions::SessionReader;
use super::variables::Known;
use crate::draw::Distribution;
use crate::scenario::source::{Action, Barrier, Pause, TIME_MAX, Wait};

/// The value of the option `thinktime`.
#[derive(Clone, Copy, Default)]
pub(super) struct ThinkDefault {
    seconds: Option<f64>,
    spread: Spread,
    /// Whether the option overrides all pauses.
    is_override: bool,
}

/// The distribution of pauses.
#[derive(Clone, Copy, Default)]
enum Spread {
    #[default]
    Constant,
    Exponential,
    Uniform(f64, f64),
}

impl Spread {
    fn around(self, seconds: Option<f64>) -> Option<Distribution> {
        match self {
            Self::Constant => seconds.map(Distribution::Constant),
            Self::Exponential => seconds.map(Distribution::Exponential),
            Self::Uniform(least, most) => Some(Distribution::Uniform(least, most)),
        }
    }
}

pub(super) fn think_default(element: Element<'_>, findings: &mut Findings) -> ThinkDefault {
    let seconds = seconds(element, "value", findings);
    let spread = range(element, findings).unwrap_or(spread(element, findings).unwrap_or_default());
    let is_override = findings.flag(element, "override");
    let which = if is_override {
        "thinktime: all pauses"
    } else {
        "thinktime: pauses that do not say how long they are"
    };
    findings.supported(element, which);
    ThinkDefault { seconds, spread, is_override }
}

fn seconds(element: Element<'_>, attribute: &str, findings: &mut Findings) -> Option<f64> {
    let seconds = findings.number(element, attribute)?;
    if seconds <= 0.0 {
        findings.problem(element, Some(attribute), "a pause is above 0", None);
        return None;
    }
    findings.time(element, attribute, seconds)?;
    Some(seconds)
}

/// Reads `min` and `max`.
fn range(element: Element<'_>, findings: &mut Findings) -> Option<Spread> {
    if element.attribute("min").is_none() && element.attribute("max").is_none() {
        return None;
    }
    findings.required(element, "min");
    findings.required(element, "max");
    let (least, most) = (seconds(element, "min", findings), seconds(element, "max", findings));
    let (least, most) = (least?, most?);
    if least > most {
        findings.problem(element, Some("max"), "it must not be below `min`", None);
        return None;
    }
    Some(Spread::Uniform(least, most))
}

/// Reads `random`.
fn spread(element: Element<'_>, findings: &mut Findings) -> Option<Spread> {
    let word = findings.word(element, "random", &["true", "false"])?;
    Some(if word == "true" { Spread::Exponential } else { Spread::Constant })
}

impl SessionReader<'_, '_> {
    pub(super) fn thinktime(&mut self, element: Element<'_>) -> Option<Action> {
        match element.attribute("value") {
            Some("wait_global") => Some(self.wait_for_all(element)),
            Some("wait_bidi") => Some(self.wait_for_server(element)),
            Some(value) if value.starts_with("%%") => self.pause_of_variable(element, value),
            Some(_) | None => {
                let pause = self.pause(element)?;
                self.findings.supported(element, format!("think {}", Pause(pause)));
                Some(Action::Think(Pause(pause)))
            }
        }
    }

    fn pause(&mut self, element: Element<'_>) -> Option<Distribution> {
        let default = self.options.think;
        if default.is_override {
            return default.spread.around(default.seconds);
        }
        if element.attribute("min").is_some() || element.attribute("max").is_some() {
            if element.attribute("value").is_some() {
                let message = "a pause has `value`, or `min` and `max`, not both";
                self.findings.problem(element, Some("value"), message, None);
            }
            return range(element, self.findings)?.around(None);
        }
        let own = seconds(element, "value", self.findings);
        if own.is_none() && element.attribute("value").is_some() {
            return None;
        }
        let spread = spread(element, self.findings).unwrap_or(default.spread);
        let pause = spread.around(own.or(default.seconds));
        if pause.is_none() {
            let help = "give it a `value`, or set a default by `<option name=\"thinktime\" value=\"…\"/>`"
                .to_owned();
            self.findings.problem(element, None, "how long is this pause?", Some(help));
        }
        pause
    }

    fn wait_for_all(&mut self, element: Element<'_>) -> Action {
        let (users, timeout) = (self.options.global_users, self.options.global_timeout);
        let why = "users who come after it has opened wait for as many again";
        self.findings.approximated(element, None, format!("a barrier of {users} users"), why);
        Action::Barrier(Barrier { name: "global".to_owned(), users: Some(users), timeout })
    }

    fn wait_for_server(&mut self, element: Element<'_>) -> Action {
        let why = "any message ends it, also one that Tsung would answer by itself";
        self.findings.approximated(element, None, "waits for a message", why);
        Action::Wait(Wait { timeout: TIME_MAX.into(), required: false, ..Wait::default() })
    }

    /// A pause cannot be a variable, unless the values of the variable are known.
    fn pause_of_variable(&mut self, element: Element<'_>, value: &str) -> Option<Action> {
        let name = value.trim_start_matches("%%").trim_start_matches('_').trim_end_matches("%%");
        let is_random = self.findings.flag(element, "random");
        let distribution = match (self.variables.known(name), is_random) {
            (Some(Known::Constant(seconds)), false) => Distribution::Constant(seconds),
            (Some(Known::Constant(seconds)), true) => Distribution::Exponential(seconds),
            (Some(Known::Uniform(least, most)), false) => Distribution::Uniform(least, most),
            (Some(Known::Uniform(..)), true) | (None, _) => {
                let what_to_do = "say the pause itself: `value`, `min` and `max`, or `random`";
                self.findings.unsupported(element, Some("value"), "a pause from a variable", what_to_do);
                return None;
            }
        };
        let pause = Pause(distribution);
        let why = format!("drawn as `{name}` is, but anew");
        self.findings.approximated(element, None, format!("think {pause}"), why);
        Some(Action::Think(pause))
    }
}
