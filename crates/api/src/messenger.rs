//! The way to the messenger's verbs.
//!
//! The one place through which every operation here acts: it asks the store, and hands on what the answer means to those
//! who must be told. No operation may reach the store otherwise.

use chat::{Ask as _, Failure, Store, Trouble, TroubleKind, Verb};
use std::fmt;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Performs verbs. Copies share the store.
#[derive(Clone)]
pub struct Messenger {
    store: Arc<dyn Store>,
}

impl Messenger {
    /// Over that store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Asks, and answers when it is durable.
    ///
    /// # Errors
    /// As the verb's documentation says.
    pub async fn perform<V: Verb>(&self, verb: V) -> Result<V::Answer, Failure> {
        let (answer, answered) = oneshot::channel();
        self.store.submit_verb(verb, move |outcome| {
            // Who asked may have gone away; what was asked is done all the same.
            let _ = answer.send(outcome);
        });
        answered.await.unwrap_or_else(|_| {
            Err(Trouble::new(TroubleKind::Closed, "the store ended before it answered").into())
        })
    }
}

impl fmt::Debug for Messenger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messenger").finish_non_exhaustive()
    }
}
