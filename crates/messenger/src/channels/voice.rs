//! What a client has in a join once it has said something there. Most are silent for most of the time.

use super::throttle::Throttle;
use super::turns::Turns;
use super::waiting::Waiting;
use gateway::{Context, Info};

/// See the module.
#[derive(Default)]
pub(super) struct Voice {
    said: Option<Box<Said>>,
}

/// What there is of who has said something.
#[derive(Default)]
pub(super) struct Said {
    pub(super) waiting: Waiting,
    pub(super) turns: Turns,
    pub(super) typing: Throttle,
}

impl Voice {
    /// For a message that is at hand.
    pub(super) fn said(&mut self) -> &mut Said {
        self.said.get_or_insert_default()
    }

    /// As [`Waiting::settle`]: who has said nothing waits for no answer.
    pub(super) fn settle(&mut self, cx: &mut Context<'_>, info: Info) -> Result<(), Info> {
        match &mut self.said {
            Some(said) => said.waiting.settle(cx, info),
            None => Err(info),
        }
    }
}
