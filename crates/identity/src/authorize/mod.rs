//! Asks a host site whether a person may do something.
//!
//! One [`Authorizer`] serves one community. [`asking`] tracks who waits for which answer, [`answers`] caches recent
//! answers, [`breaker`] decides when not to ask: all pure. This module sends the requests.

mod answers;
mod asking;
mod breaker;
mod question;
mod settings;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use tokio::sync::{Semaphore, oneshot};

use crate::outbound::{Outbound, Target};
use crate::signature::{SigningSecrets, sign};
use crate::token::UnixSeconds;
use asking::{Asking, Request, Step};

pub use asking::AuthorizerCounts;
pub use question::{Action, Answer, Question, Verdict};
pub use settings::{AuthorizerSettings, Failing};

/// Maximum size of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 4096;

/// Asks one host site. Needs a tokio runtime with time and IO enabled.
pub struct Authorizer {
    target: Target,
    secrets: SigningSecrets,
    outbound: Outbound,
    settings: AuthorizerSettings,
    turns: Semaphore,
    asking: Mutex<Asking<oneshot::Sender<Verdict>>>,
}

impl Authorizer {
    /// An authorizer that asks `target`, with each request signed by all of `secrets`.
    pub fn new(
        target: Target,
        secrets: SigningSecrets,
        outbound: Outbound,
        settings: AuthorizerSettings,
    ) -> Arc<Self> {
        let turns = Semaphore::new(settings.concurrency);
        let asking = Mutex::new(Asking::new(settings));
        Arc::new(Authorizer { target, secrets, outbound, settings, turns, asking })
    }

    /// Answers from the cache, or asks. Concurrent equal questions share one request.
    pub async fn ask(self: &Arc<Self>, question: Question) -> Verdict {
        let (waiter, answer) = oneshot::channel();
        let step = self.asking().ask(&question, waiter, Instant::now());
        match step {
            Step::Known(verdict) => return verdict,
            Step::Wait => {}
            Step::Send(request) => {
                // The caller may be cancelled, but others may have joined, so the request runs in its own task.
                let this = self.clone();
                tokio::spawn(async move { this.settle(request, question).await });
            }
        }
        answer.await.unwrap_or_else(|_| self.settings.failing.verdict())
    }

    /// Drops cached answers about a person, as when the host site changes what they may do.
    pub fn forget(&self, person: &str) {
        self.asking().forget(person);
    }

    /// Returns the counters.
    pub fn counts(&self) -> AuthorizerCounts {
        self.asking().counts()
    }

    async fn settle(self: Arc<Self>, request: Request, question: Question) {
        let answer = match tokio::time::timeout(self.settings.timeout, self.request(&question)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("no answer within {:?}", self.settings.timeout)),
        };
        if let Err(why) = &answer {
            tracing::warn!(url = %self.target, %why, "the host site did not answer an authorization request");
        }
        let random = random();
        let (verdict, waiters) = self.asking().answered(request, answer.ok(), Instant::now(), random);
        for waiter in waiters {
            // A waiter that is gone needs no answer.
            let _ = waiter.send(verdict.clone());
        }
    }

    async fn request(&self, question: &Question) -> Result<Answer, String> {
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        let body = Bytes::from(question.write());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let id = format!("ask_{:016x}{:08x}", now.as_nanos() as u64, random());
        let headers = sign(&self.secrets, &id, UnixSeconds(now.as_secs()), &body);
        let sent =
            self.outbound.post_json(&self.target, &headers, body, ANSWER_BYTES_MAX, self.settings.timeout);
        let answer = sent.await.map_err(|error| error.to_string())?;
        if answer.status != 200 {
            return Err(format!("the response has status {}", answer.status));
        }
        Answer::read(&answer.body)
    }

    fn asking(&self) -> MutexGuard<'_, Asking<oneshot::Sender<Verdict>>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn random() -> u32 {
    // Without randomness the pause is the shortest possible, which does no harm.
    getrandom::u32().unwrap_or(0)
}

impl Failing {
    fn verdict(self) -> Verdict {
        match self {
            Failing::Closed => Verdict::Unavailable,
            Failing::Open => Verdict::AllowedUnasked,
        }
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Authorizer").field("target", &self.target).finish_non_exhaustive()
    }
}
