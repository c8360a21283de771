//! Notifies host sites of what happens ([`announcements`]), whichever surface it came through.
//!
//! The messenger calls its witness on the store's thread, after the commit. There it is only checked whether the
//! community has endpoints at all, and the event is copied; the interested endpoints, and the JSON for them, are
//! determined where webhooks are sent. Pending webhooks are kept by the store ([`kept`]), and bounded. A site that must
//! miss nothing reads what happened since, by sequence numbers and revisions.

mod announcements;
mod kept;
mod known;
mod lines;
mod without;

pub(crate) use kept::told_id;

use crate::entropy;
use crate::keyring::{self, Keyring, Ring};
use announcements::{About, Erased, Happened, What};
use chat::verbs::Undelivered;
use chat::{CommunityId, Delivery, Entropy, Failure, KeyId, Moment, PersonId, Ulid};
use identity::{Deliveries, DeliveryCounts, DeliverySettings, EndpointId, MemoryLimits, Outbound};
use kept::{Ids, KeptQueue};
use known::Known;
use lines::{Line, Lines};
use messenger::{Happening, WeakMessenger};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::{JoinError, JoinSet};
use without::{Looks, Without};

/// Events that have not been processed yet. Beyond it, events are dropped and counted.
const UNREAD_MAX: usize = 10_000;
/// Deliveries that another server over the same store has held for longer are taken over by one that starts: the other
/// did not come back, and made no attempts for longer than any delivery is retried.
const ABANDONED_AFTER_MS: u64 = 25 * 60 * 60 * 1_000;
/// The pause between attempts to read pending deliveries at the start.
const RESTORE_PAUSE: Duration = Duration::from_secs(5);

/// The pause between attempts to record deliveries that the store could not record.
const END_PAUSE: Duration = Duration::from_secs(1);
/// The number of these attempts at the end.
const END_TRIES_MAX: u32 = 5;

/// See the module.
pub(crate) struct Webhooks {
    messenger: WeakMessenger,
    keyring: Arc<Keyring>,
    deliveries: Arc<Deliveries<KeptQueue>>,
    unread: mpsc::Sender<Happened>,
    /// Taken by [`Webhooks::deliver`].
    to_read: Mutex<Option<mpsc::Receiver<Happened>>>,
    without: Without,
    known: Known,
    ids: Mutex<Ids>,
    refused: AtomicU64,
}

impl Webhooks {
    /// As [`Witness::witness`](messenger::Witness::witness).
    pub(crate) fn witness(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>) {
        let at = messenger::now();
        if let Happening::Erased(person) = happening {
            self.deliveries.queue().forget(community, &Erased::Person(person));
        }
        if let Happening::ConversationErased(conversation) = happening {
            self.deliveries.queue().forget(community, &Erased::Conversation(conversation.id));
        }
        if self.without.has(community, at) {
            return;
        }
        // If there is no room, nothing is copied either.
        let Ok(place) = self.unread.try_reserve() else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let (community, by, what) = (community.clone(), by.clone(), What::copied(happening));
        place.send(Happened { community, by, at, what });
    }

    /// Handles a closed community, whose keys are gone: its pending webhooks are dropped.
    pub(crate) fn closed(&self, community: &CommunityId) {
        self.keys_changed(community, None);
        self.known.keep(community, &[], |endpoint| self.forget(endpoint));
    }

    /// Handles a change of keys. Called on the store's thread, between earlier and later events: a new endpoint gets
    /// everything from here on, and a removed one nothing more, not even earlier events.
    pub(crate) fn keys_changed(&self, community: &CommunityId, revoked: Option<KeyId>) {
        self.keyring.forget(community);
        self.without.look_again(community);
        if let Some(key) = revoked {
            let endpoint = self.number(community, key);
            self.known.remove(community, endpoint, || self.forget(endpoint));
        }
    }

    pub(crate) fn new(
        messenger: WeakMessenger,
        keyring: Arc<Keyring>,
        outbound: Outbound,
        settings: DeliverySettings,
        (limits, holder): (MemoryLimits, String),
    ) -> Self {
        let (unread, to_read) = mpsc::channel(UNREAD_MAX);
        let queue = KeptQueue::new(messenger.clone(), holder, limits);
        Self {
            messenger,
            keyring,
            deliveries: Deliveries::new(queue, outbound, settings),
            unread,
            to_read: Mutex::new(Some(to_read)),
            without: Without::default(),
            known: Known::default(),
            ids: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    fn forget(&self, endpoint: EndpointId) {
        self.deliveries.queue().remove(endpoint);
        self.deliveries.forget(endpoint);
    }

    /// Announces an event, at once if its community's keys are cached; otherwise it waits for them, without delaying
    /// other communities.
    fn take(self: &Arc<Self>, happened: Happened, announcing: &mut Announcing) {
        let community = happened.community.clone();
        if let Some(erased) = happened.erased() {
            announcing.lines.forget_kept(&community, &erased);
        }
        if !announcing.lines.has(&community) {
            self.known.begin(&community);
            let looked = self.without.looks();
            if let Some(ring) = self.keyring.at_hand(&community, happened.at) {
                self.announce(happened, looked, &ring, &mut announcing.keeping);
                return self.known.end(&community);
            }
            self.read_keys(community, Duration::ZERO, announcing);
        }
        if announcing.lines.push(happened).is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Starts reading a community's keys, after a pause.
    fn read_keys(self: &Arc<Self>, community: CommunityId, pause: Duration, announcing: &mut Announcing) {
        let this = self.clone();
        announcing.reading.spawn(async move {
            tokio::time::sleep(pause).await;
            let looked = this.without.looks();
            let ring = this.keyring.of_in_time(&community, messenger::now()).await;
            Read { community, looked, ring }
        });
    }

    /// Announces the events that waited for a community's keys. If the keys cannot be read, the events are dropped; but
    /// deliveries that the store kept wait for the next attempt, or at the end for the next start.
    fn go_on(self: &Arc<Self>, read: Read, announcing: &mut Announcing, is_end: bool) {
        let Read { community, looked, ring } = read;
        let Line { kept, happened } = announcing.lines.take(&community);
        match ring {
            Ok(ring) => {
                for delivery in kept {
                    self.put_back(&community, delivery, &ring, &mut announcing.keeping);
                }
                for happened in happened {
                    self.announce(happened, looked, &ring, &mut announcing.keeping);
                }
            }
            Err(failure) => {
                self.refused.fetch_add(happened.len() as u64, Ordering::Relaxed);
                tracing::warn!(%community, %failure, untold = happened.len(), "no webhooks were sent for an event, \
                     because the endpoints could not be read");
                if !kept.is_empty() && !is_end {
                    kept.into_iter().for_each(|delivery| announcing.lines.put_back(&community, delivery));
                    return self.read_keys(community, RESTORE_PAUSE, announcing);
                }
            }
        }
        self.known.end(&community);
    }

    /// Puts an event into the queue of each endpoint that subscribes to it. `keeping` collects pending requests to the
    /// store.
    fn announce(self: &Arc<Self>, happened: Happened, looked: Looks, ring: &Ring, keeping: &mut JoinSet<()>) {
        if let Some(erased) = happened.erased() {
            // Once more: events that had not been processed at the erasure were queued after that.
            self.deliveries.queue().forget(&happened.community, &erased);
        }
        let number_of = |endpoint: &keyring::Endpoint| self.number(&happened.community, endpoint.id);
        let standing: Vec<EndpointId> = ring.endpoints().iter().map(number_of).collect();
        self.known.keep(&happened.community, &standing, |endpoint| self.forget(endpoint));
        if standing.is_empty() {
            return self.without.note(happened.community, happened.at, looked);
        }
        let event = happened.event();
        let mut wanting = ring.endpoints().iter().filter(|one| one.events.contains(&event)).peekable();
        if wanting.peek().is_some() {
            let (community, at, about) = (happened.community.clone(), happened.at, happened.about());
            let body = happened.body();
            for endpoint in wanting {
                if let Some(delivery) = self.push(endpoint, &community, at, (&about, &body)) {
                    self.keep(&community, delivery, keeping);
                    self.wake(&community, endpoint.id);
                }
            }
        }
    }

    fn keep(self: &Arc<Self>, of: &CommunityId, delivery: Delivery, keeping: &mut JoinSet<()>) {
        let (this, community, endpoint) = (self.clone(), of.clone(), delivery.endpoint);
        let kept = self.deliveries.queue().keep(of, delivery);
        keeping.spawn(async move {
            if let Err(failure) = kept.await {
                this.deliveries.queue().was_not_kept(&community, endpoint, &failure);
            }
        });
    }

    fn push(
        &self,
        endpoint: &keyring::Endpoint,
        of: &CommunityId,
        at: Moment,
        (about, body): (&About, &str),
    ) -> Option<Delivery> {
        self.make_known(of, endpoint);
        let Ok(entropy) = entropy::bytes() else {
            // Without random numbers two messages might get the same id.
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let id = self.ids().next(Ulid::new(at, Entropy(entropy), 0));
        let what = (about.clone(), body.to_owned());
        match self.deliveries.queue().push((of, endpoint.id), id, what, at) {
            Ok(delivery) => Some(delivery),
            Err(error) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(community = %of, endpoint = %endpoint.id, %error, "a webhook was rejected");
                None
            }
        }
    }

    fn make_known(&self, of: &CommunityId, endpoint: &keyring::Endpoint) {
        let id = self.number(of, endpoint.id);
        self.known.once(of, id, || self.deliveries.queue().configure(of, endpoint));
    }

    fn number(&self, of: &CommunityId, endpoint: KeyId) -> EndpointId {
        self.deliveries.queue().number(of, endpoint)
    }

    fn wake(&self, of: &CommunityId, endpoint: KeyId) {
        self.deliveries.wake(self.number(of, endpoint), &identity::Community::new(of.as_str()));
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counters of all deliveries.
    pub(crate) fn counts(&self) -> DeliveryCounts {
        self.deliveries.counts()
    }

    /// Returns how many were dropped: too many were waiting, or the keys could not be read.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns how often the store did not accept what it had to keep.
    pub(crate) fn unkept(&self) -> u64 {
        self.deliveries.queue().unkept()
    }

    /// Delivers until `stop`, first what was pending when the server last ended. Then what is pending is kept for the
    /// next start. To be called once.
    pub(crate) async fn deliver(self: &Arc<Self>, stop: impl Future<Output = ()> + Send) {
        let to_read = self.to_read.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut to_read) = to_read else {
            return tracing::error!("webhook delivery has already started");
        };
        let mut stop = pin!(stop);
        let (mut announcing, is_over) = (Announcing::default(), Notify::new());
        let is_restored = tokio::select! {
            biased;
            () = &mut stop => false,
            () = self.restore(&mut announcing) => true,
        };
        for community in announcing.lines.communities() {
            self.known.begin(&community);
            self.read_keys(
                community,
                if is_restored { RESTORE_PAUSE } else { Duration::ZERO },
                &mut announcing,
            );
        }
        if is_restored {
            let send = async {
                tokio::select! {
                    sent = self.deliveries.clone().run(&mut stop) => {
                        if let Err(error) = sent {
                            tracing::error!(%error, "webhooks are not sent");
                        }
                    }
                    () = self.end_now_and_then() => {}
                }
                is_over.notify_one();
            };
            // A join, not a select: what is half announced when sending ends is announced completely.
            tokio::join!(send, self.read(&mut to_read, &mut announcing, &is_over));
        }
        while let Ok(happened) = to_read.try_recv() {
            self.take(happened, &mut announcing);
        }
        while let Some(read) = announcing.reading.join_next().await {
            self.go_on_if_read(read, &mut announcing, true);
        }
        while announcing.keeping.join_next().await.is_some() {}
        self.end_what_is_left().await;
    }

    /// Runs until it is dropped.
    async fn end_now_and_then(&self) {
        loop {
            tokio::time::sleep(END_PAUSE).await;
            self.deliveries.queue().end_again().await;
        }
    }

    /// Records the remaining deliveries, which the next start would otherwise send again. Does not wait for a store
    /// that is away for longer.
    async fn end_what_is_left(&self) {
        for _ in 1..END_TRIES_MAX {
            if self.deliveries.queue().end_again().await {
                return;
            }
            tokio::time::sleep(END_PAUSE).await;
        }
        if !self.deliveries.queue().end_again().await {
            tracing::warn!(
                "some delivered webhooks will be sent again after the next start: their delivery could not be \
                 recorded"
            );
        }
    }

    async fn read(
        self: &Arc<Self>,
        to_read: &mut mpsc::Receiver<Happened>,
        announcing: &mut Announcing,
        is_over: &Notify,
    ) {
        loop {
            tokio::select! {
                () = is_over.notified() => return,
                Some(_) = announcing.keeping.join_next() => {}
                Some(read) = announcing.reading.join_next() => self.go_on_if_read(read, announcing, false),
                Some(happened) = to_read.recv() => self.take(happened, announcing),
            }
        }
    }

    fn go_on_if_read(
        self: &Arc<Self>,
        read: Result<Read, JoinError>,
        announcing: &mut Announcing,
        is_end: bool,
    ) {
        match read {
            Ok(read) => self.go_on(read, announcing, is_end),
            Err(error) => tracing::error!(%error, "the keys of a community could not be read completely"),
        }
    }

    /// Reads pending deliveries, and retries until it succeeds.
    async fn restore(self: &Arc<Self>, announcing: &mut Announcing) {
        while let Err(failure) = self.read_what_waits(announcing).await {
            tracing::warn!(%failure, "the waiting webhooks could not be read from the store; retrying");
            tokio::time::sleep(RESTORE_PAUSE).await;
        }
    }

    /// Loads the deliveries that the store kept into memory. Those that are there already are not added twice. Those of
    /// a community whose keys cannot be read wait for them.
    async fn read_what_waits(self: &Arc<Self>, announcing: &mut Announcing) -> Result<(), Failure> {
        let now = messenger::now();
        let (holder, abandoned_before) =
            (self.deliveries.queue().holder().to_owned(), now.before_ms(ABANDONED_AFTER_MS));
        let mut after = None;
        loop {
            let page = Undelivered { holder: holder.clone(), abandoned_before, after };
            let page = self.messenger.upgrade()?.perform(page).await?;
            let Some((community, last)) = page.last() else { return Ok(()) };
            after = Some((community.clone(), last.endpoint, last.id));
            for (community, delivery) in page {
                if !self.ids().restore(delivery.id) {
                    continue;
                }
                if announcing.lines.has(&community) {
                    announcing.lines.put_back(&community, delivery);
                    continue;
                }
                match self.keyring.of(&community, now).await {
                    Ok(ring) => self.put_back(&community, delivery, &ring, &mut announcing.keeping),
                    Err(failure) => {
                        tracing::warn!(%community, %failure, "waiting webhooks are sent when the endpoints can be \
                             read");
                        announcing.lines.put_back(&community, delivery);
                    }
                }
            }
        }
    }

    fn put_back(
        self: &Arc<Self>,
        of: &CommunityId,
        delivery: Delivery,
        ring: &Ring,
        keeping: &mut JoinSet<()>,
    ) {
        let queue = self.deliveries.queue();
        let endpoint = ring.endpoints().iter().find(|one| one.id == delivery.endpoint);
        // It was revoked since the page was read.
        let Some(endpoint) = endpoint else { return };
        self.make_known(of, endpoint);
        if let Err(error) = queue.put_back(of, &delivery) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(community = %of, %error, "a waiting webhook was rejected; it is tried again after the \
                 next start");
        }
        self.wake(of, endpoint.id);
        if delivery.holder != queue.holder() {
            let holder = queue.holder().to_owned();
            self.keep(of, Delivery { holder, ..delivery }, keeping);
        }
    }
}

/// Announcements in progress.
#[derive(Default)]
struct Announcing {
    lines: Lines,
    /// Keys that are being read.
    reading: JoinSet<Read>,
    /// Pending requests to the store.
    keeping: JoinSet<()>,
}

/// A community's keys, with the state of [`Looks`] before they were read.
struct Read {
    community: CommunityId,
    looked: Looks,
    ring: Result<Arc<Ring>, Failure>,
}
