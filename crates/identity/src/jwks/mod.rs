//! Keys published by a host site: fetched on demand, cached, and refreshed.
//!
//! [`cache`] decides when, without reading a clock; this module fetches. At most one request per source is pending at a
//! time.

mod age;
mod cache;
mod settings;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::keys::{KeySet, read_jwks};
use crate::outbound::{Outbound, Target};
use crate::token::Refusal;
use cache::{Cache, Step};

pub use settings::JwksSettings;

/// The published keys of one host site. Needs a tokio runtime with time and IO enabled.
pub struct Jwks {
    target: Target,
    outbound: Outbound,
    settings: JwksSettings,
    cache: Mutex<Cache>,
    /// Counts finished requests.
    ended: watch::Sender<u64>,
}

impl Jwks {
    /// The keys at `target`; nothing is fetched before the first key is needed.
    pub fn new(target: Target, outbound: Outbound, settings: JwksSettings) -> Arc<Self> {
        let cache = Mutex::new(Cache::new(settings));
        Arc::new(Jwks { target, outbound, settings, cache, ended: watch::Sender::new(0) })
    }

    /// Returns the key set that contains `kid`.
    ///
    /// # Errors
    /// [`Refusal::KeyUnknown`], or [`Refusal::KeysUnavailable`] if that cannot be determined.
    pub(crate) async fn keys_for(self: &Arc<Self>, kid: &str) -> Result<Arc<KeySet>, Refusal> {
        let (step, mut ended) = self.look(kid);
        match step {
            Step::Use { keys, refresh } => {
                if refresh {
                    tokio::spawn(self.clone().fetch());
                }
                return Ok(keys);
            }
            Step::Wait { begin } => {
                if begin {
                    tokio::spawn(self.clone().fetch());
                }
            }
            Step::Unknown => return Err(Refusal::KeyUnknown { kid: Some(kid.to_owned()) }),
            Step::Unavailable => return Err(Refusal::KeysUnavailable),
        }
        if tokio::time::timeout(self.settings.timeout, ended.changed()).await.is_err() {
            return Err(Refusal::KeysUnavailable);
        }
        let step = self.cache().peek(kid, Instant::now());
        match step {
            Step::Use { keys, .. } => Ok(keys),
            Step::Unknown => Err(Refusal::KeyUnknown { kid: Some(kid.to_owned()) }),
            Step::Unavailable | Step::Wait { .. } => Err(Refusal::KeysUnavailable),
        }
    }

    /// Returns the step, and a receiver for the end of the request to wait for. The receiver cannot see the end of an
    /// earlier request, since both are obtained, and ends are sent, under the same lock.
    fn look(&self, kid: &str) -> (Step, watch::Receiver<u64>) {
        let mut cache = self.cache();
        (cache.look(kid, Instant::now()), self.ended.subscribe())
    }

    async fn fetch(self: Arc<Self>) {
        let fetched = self.request().await;
        let now = Instant::now();
        let mut cache = self.cache();
        match fetched {
            Ok((keys, max_age)) => cache.fetched(keys, max_age, now),
            Err(why) => {
                tracing::warn!(url = %self.target, %why, "the published keys could not be fetched");
                cache.failed(now);
            }
        }
        self.ended.send_modify(|count| *count += 1);
    }

    async fn request(&self) -> Result<(KeySet, Option<Duration>), String> {
        let Self { target, settings, .. } = self;
        let answer = self.outbound.get(target, settings.answer_bytes_max, settings.timeout).await;
        let answer = answer.map_err(|error| error.to_string())?;
        if answer.status != 200 {
            return Err(format!("the response has status {}", answer.status));
        }
        let (keys, skipped) = read_jwks(&answer.body).map_err(|error| error.to_string())?;
        for key in &skipped {
            tracing::info!(url = %target, place = key.place, kid = ?key.kid, why = key.why, "a published key is \
                 ignored");
        }
        let keys = KeySet::new(keys).map_err(|error| error.to_string())?;
        if keys.is_empty() {
            return Err("none of the keys can be used".to_owned());
        }
        let max_age = answer.header("cache-control").and_then(age::max_age);
        Ok((keys, max_age))
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Jwks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Jwks").field("target", &self.target).finish_non_exhaustive()
    }
}
