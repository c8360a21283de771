//! `chat`: an interactive chat client, or with `--load` a room of simulated talkers.

use super::exit::{Done, Exit, Failure};
use super::job::Written;
use super::run::play;
use crate::chat::{self, ChatError, Options, Token};
use crate::cli::{Chat, RunArguments};
use crate::presets;
use crate::scenario::plan::TlsTrust;

pub(super) fn chat(flags: &Chat) -> Done {
    if flags.load {
        refuse_flags_of_a_person(flags)?;
        let scenario = Written::ready_made(presets::room(flags), &flags.run.overrides)?;
        return play(scenario, &flags.run, |_| String::new());
    }
    refuse_flags_of_runs(&flags.run)?;
    let options = Options {
        url: flags.url.clone(),
        name: flags.name.clone(),
        topic: flags.topic.clone(),
        plain_text: flags.plain_text,
        token: token(flags),
        json: flags.run.json,
        trust: TlsTrust {
            authorities: flags.run.overrides.ca.clone(),
            insecure: flags.run.overrides.insecure,
        },
    };
    match chat::run(options) {
        Ok(()) => Ok(Exit::Success),
        Err(error @ ChatError::OnlyMessenger(_)) => Err(Failure::usage(error)),
        Err(error) => Err(Failure::failed(error)),
    }
}

/// Returns the user's token. `STAMPEDE_TOKEN` is for agents and must not be sent to a chat server.
fn token(flags: &Chat) -> Option<Token> {
    let for_agents = std::env::var("STAMPEDE_TOKEN").ok();
    let on_line = flags.run.token.clone().filter(|token| Some(token) != for_agents.as_ref());
    let token = on_line.or_else(|| std::env::var("STAMPEDE_CHAT_TOKEN").ok());
    let token = token.filter(|token| !token.is_empty());
    // `--token` of the same value cannot be told apart from the variable.
    if token.is_none() && flags.run.token.is_some() {
        eprintln!("chat: STAMPEDE_TOKEN is for agents and is not sent; yours goes into STAMPEDE_CHAT_TOKEN");
    }
    token.map(|token| Token::new(&token))
}

/// Rejects what simulated talkers have no use for: a messenger's room, which lets nobody in who gives no community, and
/// flags that they would silently ignore.
fn refuse_flags_of_a_person(flags: &Chat) -> Result<(), Failure> {
    if chat::is_messenger_room(&flags.url, flags.topic.as_deref()) {
        return Err(Failure::usage(
            "chat: --load does not fill a room of the messenger; play a scenario that joins it with its community \
             (docs/scenarios.md)",
        ));
    }
    let given = [("--name", flags.name.is_some()), ("--plain-text", flags.plain_text)];
    refuse_first(&given, "has no meaning with --load")
}

/// Rejects flags that an interactive chat would silently ignore.
fn refuse_flags_of_runs(flags: &RunArguments) -> Result<(), Failure> {
    let given = [
        ("--print-scenario", flags.print_scenario),
        ("--agents", !flags.agents.is_empty()),
        ("--event-log", flags.event_log.is_some()),
        ("--dashboard", flags.dashboard.is_some()),
        ("--metrics", flags.metrics.is_some()),
        ("--threshold", !flags.overrides.thresholds.is_empty()),
        ("--set", !flags.overrides.set.is_empty()),
        ("--floor", flags.floor.is_some()),
    ];
    refuse_first(&given, "requires --load")
}

/// Rejects the first of these flags that is given.
fn refuse_first(flags: &[(&str, bool)], why: &str) -> Result<(), Failure> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Failure::usage(format!("chat: {flag} {why}"))),
        None => Ok(()),
    }
}
