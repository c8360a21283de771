//! Sends queued webhooks.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::lanes::{Lanes, Next, Places};
use super::queue::{EndpointId, Head, Queue, QueueError, UnixMillis, WhyDead};
use super::retries::{Fate, Retries};
use crate::authority::Community;
use crate::outbound::{Outbound, OutboundError};
use crate::signature::sign;
use crate::token::UnixSeconds;

/// Settings for sending webhooks.
#[derive(Clone, Copy, Debug)]
pub struct DeliverySettings {
    /// Request timeout.
    pub timeout: Duration,
    /// A request that takes longer than this makes its endpoint count as slow.
    pub slow_after: Duration,
    /// Limits of concurrent requests.
    pub places: Places,
    /// The retry schedule.
    pub retries: Retries,
    /// How long an endpoint waits after the queue itself failed.
    pub queue_pause: Duration,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        DeliverySettings {
            timeout: Duration::from_secs(10),
            slow_after: Duration::from_secs(2),
            places: Places::default(),
            retries: Retries::default(),
            queue_pause: Duration::from_secs(5),
        }
    }
}

/// How much of a response is read, in bytes; only its status matters.
const ANSWER_BYTES_MAX: usize = 4096;

/// Counters since the deliveries started, and the current state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    /// Messages delivered.
    pub delivered: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Messages that became dead letters.
    pub dead: u64,
    /// Failures of the queue.
    pub queue_errors: u64,
    /// Endpoints with waiting messages.
    pub endpoints_waiting: usize,
    /// Requests under way.
    pub under_way: usize,
}

/// Delivers a queue's messages. Needs a tokio runtime with time and IO enabled.
pub struct Deliveries<Q> {
    queue: Q,
    outbound: Outbound,
    settings: DeliverySettings,
    lanes: Mutex<Lanes>,
    changed: Notify,
    delivered: AtomicU64,
    failed: AtomicU64,
    dead: AtomicU64,
    queue_errors: AtomicU64,
}

/// The outcome of a request.
enum Attempt {
    Delivered,
    Gone,
    Failed { why: String, retry_after: Option<Duration> },
}

impl<Q: Queue> Deliveries<Q> {
    /// Creates deliveries; [`run`](Self::run) starts them.
    pub fn new(queue: Q, outbound: Outbound, settings: DeliverySettings) -> Arc<Self> {
        Arc::new(Deliveries {
            queue,
            outbound,
            settings,
            lanes: Mutex::new(Lanes::new(settings.places)),
            changed: Notify::new(),
            delivered: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            dead: AtomicU64::new(0),
            queue_errors: AtomicU64::new(0),
        })
    }

    /// The queue.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// Reports that a message was queued for an endpoint. An endpoint that is in a pause stays there.
    pub fn wake(&self, endpoint: EndpointId, community: &Community) {
        self.lanes().wake(endpoint, community, UnixMillis(0), 0);
        self.changed.notify_one();
    }

    /// Forgets a removed endpoint, except for an attempt that is already under way. The caller must first remove its
    /// messages from the queue.
    pub fn forget(&self, endpoint: EndpointId) {
        self.lanes().forget(endpoint);
    }

    /// Returns the counters.
    pub fn counts(&self) -> DeliveryCounts {
        let (endpoints_waiting, under_way) = self.lanes().counts();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        DeliveryCounts {
            delivered: read(&self.delivered),
            failed: read(&self.failed),
            dead: read(&self.dead),
            queue_errors: read(&self.queue_errors),
            endpoints_waiting,
            under_way,
        }
    }

    /// Delivers until `stop` resolves, then waits for the requests under way.
    ///
    /// # Errors
    /// [`QueueError`] if the queue cannot list the waiting endpoints at the start.
    pub async fn run(self: Arc<Self>, stop: impl Future<Output = ()> + Send) -> Result<(), QueueError> {
        for waiting in self.queue.waiting().await? {
            // A time further ahead than any pause was written under another clock.
            let longest = self.settings.retries.longest + self.settings.retries.longest / 4;
            let not_before = waiting.not_before.min(after(now(), longest));
            self.lanes().wake(waiting.endpoint, &waiting.community, not_before, waiting.failures);
        }
        let mut requests = JoinSet::new();
        tokio::pin!(stop);
        loop {
            while let Some((endpoint, failures)) = self.next() {
                let this = self.clone();
                requests.spawn(async move { this.work(endpoint, failures).await });
            }
            tokio::select! {
                // Once stopped, nothing new starts.
                biased;
                () = &mut stop => break,
                Some(_) = requests.join_next() => {}
                () = self.changed.notified() => {}
                () = self.sleep_until_due() => {}
            }
        }
        while requests.join_next().await.is_some() {}
        Ok(())
    }

    fn next(&self) -> Option<(EndpointId, u32)> {
        self.lanes().next(now())
    }

    async fn sleep_until_due(&self) {
        let due = self.lanes().next_due();
        match due {
            Some(due) => {
                tokio::time::sleep(Duration::from_millis(due.0.saturating_sub(now().0).max(1))).await
            }
            None => std::future::pending().await,
        }
    }

    /// Makes one attempt to deliver an endpoint's oldest message.
    async fn work(&self, endpoint: EndpointId, failures: u32) {
        let begun = Instant::now();
        let worked = match self.queue.head(endpoint).await {
            Ok(None) => Ok((failures, Next::Empty)),
            Ok(Some(head)) => {
                let attempt = self.attempt(&head).await;
                self.settle(&head, failures, attempt).await
            }
            Err(error) => Err(error),
        };
        let (failures, next) = worked.unwrap_or_else(|error| {
            let community = self.lanes().community(endpoint).cloned();
            let community = community.as_ref().map(Community::as_str);
            tracing::error!(community, %error, "the webhook queue failed");
            self.queue_errors.fetch_add(1, Ordering::Relaxed);
            (failures, Next::Sleep(after(now(), self.settings.queue_pause)))
        });
        let slow = failures > 0 || begun.elapsed() > self.settings.slow_after;
        self.lanes().finished(endpoint, failures, slow, next);
    }

    async fn attempt(&self, head: &Head) -> Attempt {
        let Head { endpoint, message } = head;
        let at = UnixSeconds(now().0 / 1000);
        let headers = sign(&endpoint.secrets, &message.id.0, at, &message.body);
        let body = message.body.clone();
        let sent = self.outbound.post_json(
            &endpoint.target,
            &headers,
            body,
            ANSWER_BYTES_MAX,
            self.settings.timeout,
        );
        let (status, retry_after) = match sent.await {
            Ok(answer) => (answer.status, answer.header("retry-after").and_then(|after| after.parse().ok())),
            Err(OutboundError::TooLarge { status, .. }) => (status, None),
            Err(error) => return Attempt::Failed { why: error.to_string(), retry_after: None },
        };
        match status {
            200..=299 => Attempt::Delivered,
            410 => Attempt::Gone,
            status => Attempt::Failed {
                why: format!("the response has status {status}"),
                retry_after: retry_after.map(Duration::from_secs),
            },
        }
    }

    async fn settle(&self, head: &Head, failures: u32, attempt: Attempt) -> Result<(u32, Next), QueueError> {
        let (endpoint, message) = (head.endpoint.id, &head.message);
        match attempt {
            Attempt::Delivered => {
                self.queue.delivered(endpoint, &message.id).await?;
                self.delivered.fetch_add(1, Ordering::Relaxed);
                Ok((0, Next::Ready))
            }
            Attempt::Gone => {
                tracing::warn!(url = %head.endpoint.target, "a webhook endpoint is gone (410)");
                self.queue.dead(endpoint, &message.id, WhyDead::Gone, now()).await?;
                self.dead.fetch_add(1, Ordering::Relaxed);
                Ok((0, Next::Ready))
            }
            Attempt::Failed { why, retry_after } => self.put_off(head, failures + 1, why, retry_after).await,
        }
    }

    async fn put_off(
        &self,
        head: &Head,
        failures: u32,
        why: String,
        retry_after: Option<Duration>,
    ) -> Result<(u32, Next), QueueError> {
        let (endpoint, message, now) = (head.endpoint.id, &head.message, now());
        let pause = self.settings.retries.pause(failures, retry_after, getrandom::u32().unwrap_or(0));
        let (attempts, not_before) = (message.attempts + 1, after(now, pause));
        self.failed.fetch_add(1, Ordering::Relaxed);
        tracing::info!(url = %head.endpoint.target, attempts, %why, "a webhook could not be delivered");
        // Write the time first, so that after a restart between the two writes the endpoint still gets its pause.
        self.queue.failed(endpoint, &message.id, attempts, failures, not_before).await?;
        let dead = match self.settings.retries.fate(message, attempts, now) {
            Fate::Again => None,
            Fate::TooOften => Some(WhyDead::Attempts { last: why.clone() }),
            Fate::TooOld => Some(WhyDead::Age { last: why.clone() }),
        };
        if let Some(dead) = dead {
            self.queue.dead(endpoint, &message.id, dead, now).await?;
            self.dead.fetch_add(1, Ordering::Relaxed);
            self.give_up_aged(endpoint, why, now).await?;
        }
        Ok((failures, Next::Sleep(not_before)))
    }

    /// Gives up the messages behind one that was given up, as far as they are too old, too. With an attempt and a pause
    /// each, they would take the place of newer ones for days.
    async fn give_up_aged(
        &self,
        endpoint: EndpointId,
        why: String,
        now: UnixMillis,
    ) -> Result<(), QueueError> {
        while let Some(Head { message, .. }) = self.queue.head(endpoint).await? {
            if !self.settings.retries.is_too_old(&message, now) {
                break;
            }
            self.queue.dead(endpoint, &message.id, WhyDead::Age { last: why.clone() }, now).await?;
            self.dead.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn after(time: UnixMillis, pause: Duration) -> UnixMillis {
    UnixMillis(time.0.saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)))
}

impl<Q> fmt::Debug for Deliveries<Q> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Deliveries").field("settings", &self.settings).finish_non_exhaustive()
    }
}
