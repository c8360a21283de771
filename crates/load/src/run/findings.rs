//! Reports the doctor's findings before the first user arrives.
//!
//! Findings never prevent a run: a user who tests a limit on purpose runs into what was predicted, and the failures are
//! counted.

use std::io::{self, Write};

use super::job::Show;
use crate::doctor::State;

/// The findings on one machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// The machine's name; for an agent, with its address.
    pub(super) machine: String,
    /// Most severe first, each with a remedy.
    pub(super) findings: Vec<(State, String)>,
}

/// Writes the findings. With [`Show::Nothing`], only those with [`State::Stop`].
pub(super) fn say(found: &[Found], show: Show, out: &mut dyn Write) -> io::Result<()> {
    let least = match show {
        Show::View | Show::Lines(_) => State::Caution,
        Show::Nothing => State::Stop,
    };
    let mut stops = false;
    for Found { machine, findings } in found {
        for (state, text) in findings.iter().filter(|(state, _)| *state >= least) {
            writeln!(out, "doctor: {machine}: {}: {text}", word(*state))?;
            stops |= *state == State::Stop;
        }
    }
    if stops {
        writeln!(out, "doctor: the run starts anyway and counts failures")?;
    }
    Ok(())
}

fn word(state: State) -> &'static str {
    match state {
        State::Ok => "ok",
        State::Note => "note",
        State::Caution => "caution",
        State::Stop => "stop",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(show: Show) -> String {
        let caution = (State::Caution, "cores: shared".to_owned());
        let stop = (State::Stop, "source ports: enough for 1 of 2 clients; change it: do".to_owned());
        let found = [
            Found { machine: "here".to_owned(), findings: vec![stop, caution.clone()] },
            Found { machine: "there".to_owned(), findings: vec![caution] },
        ];
        let mut out = Vec::new();
        say(&found, show, &mut out).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn every_finding_is_said_with_its_machine_and_a_run_that_shows_nothing_says_what_stops_it() {
        let stop = "doctor: here: stop: source ports: enough for 1 of 2 clients; change it: do\n";
        let end = "doctor: the run starts anyway and counts failures\n";
        let cautions = "doctor: here: caution: cores: shared\ndoctor: there: caution: cores: shared\n";
        assert_eq!(said(Show::View), format!("{stop}{cautions}{end}"));
        assert_eq!(said(Show::Lines(5)), said(Show::View));
        assert_eq!(said(Show::Nothing), format!("{stop}{end}"));
    }
}
