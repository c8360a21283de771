//! The stages of a gateway's life, which only move forward.

use tokio::sync::watch;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Stage {
    Serving,
    /// Nothing new is admitted, and existing connections are being closed.
    Draining,
    /// The control plane ends.
    Stopped,
}

/// The current stage; others can wait for it to change.
pub(crate) struct Life(watch::Sender<Stage>);

impl Life {
    pub(crate) fn new() -> Life {
        Life(watch::Sender::new(Stage::Serving))
    }

    /// Moves forward to a stage; never back.
    pub(crate) fn advance(&self, to: Stage) {
        self.0.send_if_modified(|stage| {
            let goes_on = *stage < to;
            *stage = to.max(*stage);
            goes_on
        });
    }

    pub(crate) fn has_reached(&self, stage: Stage) -> bool {
        *self.0.borrow() >= stage
    }

    pub(crate) async fn reached(&self, stage: Stage) {
        // Fails only if the sender is dropped, but it is part of `self`.
        let _ = self.0.subscribe().wait_for(|now| *now >= stage).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_is_over_does_not_come_back() {
        let life = Life::new();
        assert!(!life.has_reached(Stage::Draining));
        life.advance(Stage::Stopped);
        life.advance(Stage::Draining);
        assert!(life.has_reached(Stage::Draining) && life.has_reached(Stage::Stopped));
    }
}
