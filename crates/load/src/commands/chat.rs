//! `chat`: for a person, or with `--load` a room full of talkers.

use super::exit::{Done, Exit, Failure};
use super::job::Written;
use super::run::play;
use crate::chat::{self, Options};
use crate::cli::Chat;
use crate::presets;

pub(super) fn chat(flags: &Chat) -> Done {
    if flags.load {
        let scenario = presets::room(flags).map_err(Failure::usage)?;
        return play(Written::ready_made(scenario), &flags.run, |_| String::new());
    }
    let options = Options {
        url: flags.url.clone(),
        name: flags.name.clone(),
        topic: flags.topic.clone(),
        plain_text: flags.plain_text,
        ca: flags.run.overrides.ca.clone(),
    };
    chat::run(options).map_err(Failure::failed)?;
    Ok(Exit::Success)
}
