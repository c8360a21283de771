//! What this node knows to be stored by an instance, to detect a restart without it.

use hub::{Epoch, Position};
use std::sync::{Mutex, PoisonError};

/// The newest publication that this node knows to be stored, with its epoch and the run of the server.
#[derive(Default)]
pub(crate) struct StoredHead(Mutex<Option<StoredPosition>>);

#[derive(Clone)]
pub(crate) struct StoredPosition {
    pub(crate) epoch: Epoch,
    pub(crate) offset: u64,
    pub(crate) run: Box<str>,
}

impl StoredHead {
    /// Records a stored publication.
    pub(crate) fn see(&self, position: &Position, run: &str) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *seen {
            Some(seen) if seen.epoch == position.epoch => {
                if position.offset > seen.offset {
                    seen.offset = position.offset;
                    if *seen.run != *run {
                        seen.run = run.into();
                    }
                }
            }
            Some(_) | None => {
                let Position { epoch, offset } = position.clone();
                *seen = Some(StoredPosition { epoch, offset, run: run.into() });
            }
        }
    }

    pub(crate) fn seen(&self) -> Option<StoredPosition> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
