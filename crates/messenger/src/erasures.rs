//! Finds and announces erasures that may be complete.
//!
//! If the outcome of an erasure's last step is unknown, whoever repeats it is answered that there is no such person. So
//! the node that asked finds out whether the person still exists, and announces the erasure as it would have been
//! announced.

use crate::messenger::Messenger;
use crate::news::person_erased;
use chat::verbs::{Erase, ReadPerson};
use chat::{Asked, By, CommunityId, Failure, PersonId, Thing};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last step of unknown outcome of each erasure, by the person to erase.
#[derive(Default)]
pub(crate) struct DoubtedErasures(Mutex<HashMap<(CommunityId, PersonId), Asked<Erase>>>);

impl DoubtedErasures {
    /// Records a step of unknown outcome.
    pub(crate) fn doubt(&self, asked: Asked<Erase>) {
        self.all().insert((asked.call.community.clone(), asked.command.person.clone()), asked);
    }

    /// The person was erased, and everybody was notified.
    pub(crate) fn settle(&self, community: &CommunityId, person: &PersonId) {
        self.all().remove(&(community.clone(), person.clone()));
    }

    /// Removes the step, as its outcome is known now. Returns whether it was still unknown.
    fn take(&self, asked: &Asked<Erase>) -> bool {
        let key = (asked.call.community.clone(), asked.command.person.clone());
        let mut all = self.all();
        let is_last = all.get(&key).is_some_and(|last| last.call.entropy == asked.call.entropy);
        is_last && all.remove(&key).is_some()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<(CommunityId, PersonId), Asked<Erase>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Messenger {
    /// Announces the erasures that turn out to be complete. If the store cannot answer, the next round asks again.
    pub(crate) async fn find_out_erasures(&self) {
        let inner = &self.inner;
        let doubted: Vec<Asked<Erase>> = inner.erasures.all().values().cloned().collect();
        for asked in doubted {
            let read = ReadPerson { person: asked.command.person.clone() };
            match self.ask(&asked.call.community, By::Service, read).await {
                Err(Failure::Absent(Thing::Person)) => {
                    if inner.erasures.take(&asked) {
                        let mut notices = inner.notices();
                        // It may have completed a moment after it was recorded.
                        notices.forget_community(&asked.call.community);
                        person_erased(&asked, &mut notices);
                    }
                }
                Err(failure @ Failure::Unavailable(_)) => {
                    tracing::warn!(%failure, "the progress of erasures could not be read; the next round retries");
                    return;
                }
                // Not complete: whoever runs the erasure continues it.
                Ok(_) | Err(_) => drop(inner.erasures.take(&asked)),
            }
        }
    }
}
