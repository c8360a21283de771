//! The state of a join that exists only once the client has sent something there: most clients are silent most of the
//! time.

use super::throttle::Throttle;
use super::turns::Turns;
use super::waiting::Waiting;
use gateway::{Context, Info};

/// See the module.
#[derive(Default)]
pub(super) struct Sending(Option<SendingState>);

/// The state of a client that has sent something.
#[derive(Default)]
pub(super) struct SendingState {
    pub(super) waiting: Waiting,
    pub(super) turns: Turns,
    pub(super) typing: Throttle,
}

impl Sending {
    /// Returns the state for the message at hand, creating it if necessary.
    pub(super) fn state(&mut self) -> &mut SendingState {
        self.0.get_or_insert_default()
    }

    pub(super) fn is_silent(&self) -> bool {
        self.0.is_none()
    }

    /// Like [`Waiting::settle`]; a client that has sent nothing waits for no answer.
    pub(super) fn settle(&mut self, cx: &mut Context<'_>, info: Info) -> Result<(), Info> {
        match &mut self.0 {
            Some(state) => state.waiting.settle(cx, info),
            None => Err(info),
        }
    }
}
