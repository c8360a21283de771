//! Webhooks, over HTTP.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use identity::{
    Community, Deliveries, DeliveryCounts, DeliverySettings, Endpoint, EndpointId, MemoryLimits, MemoryQueue,
    Message, MessageId, Places, QueueError, QueueFull, Retries, SigningSecret, Target, UnixMillis,
    UnixSeconds, WhyDead, verify,
};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use crate::site::{self, DEADLINE, Site, answer, eventually, outbound};

/// Retries quick enough for a test.
fn quick() -> DeliverySettings {
    let retries = Retries {
        first: Duration::from_millis(1),
        longest: Duration::from_millis(4),
        attempts_max: 4,
        ..Retries::default()
    };
    DeliverySettings { retries, ..DeliverySettings::default() }
}

fn secret() -> SigningSecret {
    SigningSecret::mint([9; 32])
}

fn endpoint(id: u64, target: Target) -> Endpoint {
    let community = Community::new(&(id / 10).to_string());
    Endpoint { id: EndpointId(id), community, target, secrets: secret().into() }
}

fn now_ms() -> UnixMillis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    UnixMillis(since.as_millis() as u64)
}

fn message(id: &str) -> Message {
    let body = format!(r#"{{"type":"test","id":"{id}"}}"#).into();
    let (id, person) = (MessageId(id.into()), "ann".into());
    Message { id, person, conversation: None, body, queued: now_ms(), attempts: 0 }
}

/// Deliveries that run until stopped.
struct Sending {
    deliveries: Arc<Deliveries<MemoryQueue>>,
    stop: oneshot::Sender<()>,
    run: JoinHandle<Result<(), QueueError>>,
}

impl Sending {
    fn start(endpoints: impl IntoIterator<Item = Endpoint>, settings: DeliverySettings) -> Self {
        let queue = MemoryQueue::new(MemoryLimits::default());
        endpoints.into_iter().for_each(|endpoint| queue.configure(endpoint));
        Self::start_with(queue, settings)
    }

    fn start_with(queue: MemoryQueue, settings: DeliverySettings) -> Self {
        let deliveries = Deliveries::new(queue, outbound(), settings);
        let (stop, stopped) = oneshot::channel();
        let run = deliveries.clone().run(async move {
            let _ = stopped.await;
        });
        Sending { deliveries, stop, run: tokio::spawn(run) }
    }

    fn push(&self, endpoint: u64, id: &str) {
        let (endpoint, community) = (EndpointId(endpoint), Community::new(&(endpoint / 10).to_string()));
        self.deliveries.queue().push(endpoint, message(id)).expect("room");
        self.deliveries.wake(endpoint, &community);
    }

    async fn is_done(&self) -> DeliveryCounts {
        eventually("all is told", || self.deliveries.counts().endpoints_waiting == 0).await;
        assert!(self.deliveries.queue().is_empty());
        self.deliveries.counts()
    }

    async fn stop(self) {
        self.stop.send(()).expect("it runs");
        let ended = tokio::time::timeout(DEADLINE, self.run).await.expect("it ends");
        assert_eq!(ended.expect("no panic"), Ok(()));
    }
}

fn ids(site: &Site) -> Vec<String> {
    site.seen().iter().map(|seen| seen.header("webhook-id").to_owned()).collect()
}

#[tokio::test]
async fn messages_are_signed_and_told_in_order() {
    let site = Site::start(|_| async { answer(200, "x".repeat(100_000)) }).await;
    let sending = Sending::start([endpoint(10, site.target("/hook"))], quick());
    let expected: Vec<String> = (0..50).map(|n| format!("msg_{n}")).collect();
    expected.iter().for_each(|id| sending.push(10, id));
    let counts = sending.is_done().await;
    assert_eq!((counts.delivered, counts.failed, counts.dead), (50, 0, 0));
    assert_eq!(ids(&site), expected);
    for seen in site.seen() {
        let [id, timestamp, signature] =
            ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| seen.header(name).to_owned());
        let now = UnixSeconds(now_ms().0 / 1000);
        assert_eq!(verify(&secret(), &id, &timestamp, &signature, &seen.body, now), Ok(()));
        assert_eq!(seen.path, "/hook");
    }
    sending.stop().await;
}

#[tokio::test]
async fn a_message_is_repeated_until_it_is_taken_and_the_next_waits() {
    let asked = Arc::new(AtomicUsize::new(0));
    let site = Site::start(move |_| {
        let nth = asked.fetch_add(1, Ordering::SeqCst);
        async move { answer([500, 302, 404, 204, 429, 200][nth], "") }
    })
    .await;
    let sending = Sending::start([endpoint(10, site.target("/"))], quick());
    sending.push(10, "a");
    sending.push(10, "b");
    let counts = sending.is_done().await;
    assert_eq!((counts.delivered, counts.failed, counts.dead), (2, 4, 0));
    assert_eq!(ids(&site), ["a", "a", "a", "a", "b", "b"]);
    sending.stop().await;
}

#[tokio::test]
async fn a_message_that_is_never_taken_is_put_aside() {
    let site = Site::start(|seen| async move {
        let refused = seen.header("webhook-id") == "bad";
        answer(if refused { 500 } else { 200 }, "")
    })
    .await;
    let sending = Sending::start([endpoint(10, site.target("/"))], quick());
    ["a", "bad", "b"].iter().for_each(|id| sending.push(10, id));
    let counts = sending.is_done().await;
    assert_eq!((counts.delivered, counts.failed, counts.dead), (2, 4, 1));
    assert_eq!(ids(&site), ["a", "bad", "bad", "bad", "bad", "b"]);
    let dead = sending.deliveries.queue().dead_letters(EndpointId(10));
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].message.id.0.as_str(), dead[0].message.attempts), ("bad", 4));
    assert_eq!(dead[0].why, WhyDead::Attempts { last: "the response has status 500".into() });
    sending.stop().await;
}

#[tokio::test]
async fn behind_a_site_that_is_away_what_is_too_old_is_put_aside_with_one_attempt_for_all() {
    let site = Site::start(|_| async { answer(503, "") }).await;
    let sending = Sending::start([endpoint(10, site.target("/"))], quick());
    for id in ["a", "b"] {
        let old = Message { queued: UnixMillis(1000), ..message(id) };
        sending.deliveries.queue().push(EndpointId(10), old).expect("room");
    }
    sending.push(10, "c");
    let counts = sending.is_done().await;
    assert_eq!((counts.failed, counts.dead), (5, 3));
    assert_eq!(ids(&site), ["a", "c", "c", "c", "c"]);
    let dead = sending.deliveries.queue().dead_letters(EndpointId(10));
    for (letter, attempts) in dead[..2].iter().zip([1, 0]) {
        assert_eq!(letter.why, WhyDead::Age { last: "the response has status 503".into() });
        assert_eq!(letter.message.attempts, attempts);
    }
    sending.stop().await;
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_told_nothing_more() {
    let site = Site::start(|_| async { answer(410, "") }).await;
    let queue = MemoryQueue::new(MemoryLimits::default());
    queue.configure(endpoint(10, site.target("/")));
    for id in ["a", "b"] {
        queue.push(EndpointId(10), message(id)).expect("room");
    }
    let sending = Sending::start_with(queue, quick());
    eventually("it is gone", || sending.deliveries.counts().dead == 1).await;
    sending.is_done().await;
    assert_eq!(ids(&site), ["a"]);
    let queue = sending.deliveries.queue();
    let dead = queue.dead_letters(EndpointId(10));
    assert!(dead.len() == 2 && dead.iter().all(|letter| letter.why == WhyDead::Gone), "{dead:?}");
    assert_eq!(queue.push(EndpointId(10), message("c")), Err(QueueFull::NoEndpoint));
    queue.configure(endpoint(10, site.target("/new")));
    assert_eq!(queue.push(EndpointId(10), message("c")), Ok(()), "it was configured anew");
    sending.stop().await;
}

#[tokio::test]
async fn an_endpoint_that_is_removed_is_told_nothing_more_and_nothing_is_kept_of_it() {
    let gate = Arc::new(Semaphore::new(0));
    let at_site = gate.clone();
    let site = Site::start(move |_| {
        let gate = at_site.clone();
        async move {
            gate.acquire().await.expect("it stays").forget();
            answer(500, "")
        }
    })
    .await;
    let sending = Sending::start([endpoint(10, site.target("/"))], quick());
    ["a", "b"].iter().for_each(|id| sending.push(10, id));
    site.has_seen(1).await;
    sending.deliveries.queue().remove(EndpointId(10));
    sending.deliveries.forget(EndpointId(10));
    gate.add_permits(10);
    let counts = sending.is_done().await;
    assert_eq!((counts.failed, counts.dead, counts.queue_errors), (1, 0, 0));
    assert_eq!(ids(&site), ["a"]);
    let queue = sending.deliveries.queue();
    assert_eq!(queue.push(EndpointId(10), message("c")), Err(QueueFull::NoEndpoint));
    sending.stop().await;
}

#[tokio::test]
async fn endpoints_that_hang_do_not_hold_up_the_others() {
    let gate = Arc::new(Semaphore::new(0));
    let at_site = gate.clone();
    let site = Site::start(move |seen| {
        let gate = at_site.clone();
        async move {
            if seen.path.starts_with("/hangs") {
                gate.acquire().await.expect("it stays").forget();
            }
            answer(200, "")
        }
    })
    .await;
    // One community has more hanging endpoints than it may have request slots.
    let hanging = (10..20).map(|id| endpoint(id, site.target("/hangs")));
    let prompt = [30, 40].map(|id| endpoint(id, site.target("/prompt")));
    let settings = DeliverySettings {
        places: Places { prompt: 5, prompt_per_community: 3, ..Places::default() },
        timeout: DEADLINE,
        ..quick()
    };
    let sending = Sending::start(hanging.chain(prompt), settings);
    (10..20).for_each(|id| sending.push(id, "stuck"));
    eventually("its places are taken", || sending.deliveries.counts().under_way == 3).await;
    for n in 0..20 {
        sending.push(30, &format!("{n}"));
        sending.push(40, &format!("{n}"));
    }
    eventually("the others are told", || sending.deliveries.counts().delivered == 40).await;
    eventually("the others have nothing left", || sending.deliveries.counts().under_way == 3).await;
    gate.add_permits(10);
    assert_eq!(sending.is_done().await.delivered, 50);
    sending.stop().await;
}

#[tokio::test]
async fn a_site_may_be_private_only_where_that_is_allowed() {
    let site = Site::start(|_| async { answer(200, "") }).await;
    let queue = MemoryQueue::new(MemoryLimits::default());
    queue.configure(endpoint(10, site.target("/")));
    queue.push(EndpointId(10), message("a")).expect("room");
    let tls = site::trusting(rustls::RootCertStore::empty());
    let public = identity::Outbound::new(tls, identity::AddressPolicy::public());
    let deliveries = Deliveries::new(queue, public, quick());
    let run = tokio::spawn(deliveries.clone().run(std::future::pending()));
    eventually("it is given up", || deliveries.counts().dead == 1).await;
    let dead = deliveries.queue().dead_letters(EndpointId(10));
    assert!(
        matches!(&dead[0].why, WhyDead::Attempts { last } if last.contains("not allowed to connect")),
        "{dead:?}"
    );
    assert!(site.seen().is_empty());
    run.abort();
}

#[tokio::test]
async fn what_waits_is_told_when_deliveries_begin_again() {
    let site = Site::start(|_| async { answer(200, "") }).await;
    let queue = MemoryQueue::new(MemoryLimits::default());
    queue.configure(endpoint(10, site.target("/")));
    queue.push(EndpointId(10), message("a")).expect("room");
    // A time far ahead, as from a wrong clock, must not delay the endpoint for longer than a pause.
    let far = UnixMillis(now_ms().0 + 1_000_000_000);
    identity::Queue::failed(&queue, EndpointId(10), &MessageId("a".into()), 1, 1, far)
        .await
        .expect("it is noted");
    let sending = Sending::start_with(queue, quick());
    site.has_seen(1).await;
    assert_eq!(sending.is_done().await.delivered, 1);
    sending.stop().await;
}

#[tokio::test]
async fn what_is_under_way_ends_before_deliveries_do() {
    let gate = Arc::new(Semaphore::new(0));
    let at_site = gate.clone();
    let site = Site::start(move |_| {
        let gate = at_site.clone();
        async move {
            gate.acquire().await.expect("it stays").forget();
            answer(200, "")
        }
    })
    .await;
    let sending = Sending::start([endpoint(10, site.target("/"))], quick());
    sending.push(10, "a");
    sending.push(10, "b");
    site.has_seen(1).await;
    let deliveries = sending.deliveries.clone();
    let stopping = tokio::spawn(sending.stop());
    gate.add_permits(1);
    stopping.await.expect("it ends");
    assert_eq!((deliveries.counts().delivered, deliveries.queue().len()), (1, 1));
}

#[test]
fn a_queue_in_memory_is_bounded() {
    let limits = MemoryLimits {
        waiting_per_endpoint_max: 2,
        bytes_max: 100,
        dead_per_endpoint_max: 1,
        ..MemoryLimits::default()
    };
    let queue = MemoryQueue::new(limits);
    let target = Target::parse("https://site.example/").expect("a target");
    (1..4).for_each(|id| queue.configure(endpoint(id, target.clone())));
    let of = |id: &str, bytes: usize| Message { body: vec![b'x'; bytes].into(), ..message(id) };
    assert_eq!(queue.push(EndpointId(9), of("a", 1)), Err(QueueFull::NoEndpoint));
    assert_eq!(queue.push(EndpointId(1), of("a", 30)), Ok(()));
    assert_eq!(queue.push(EndpointId(1), of("b", 30)), Ok(()));
    assert_eq!(queue.push(EndpointId(1), of("c", 1)), Err(QueueFull::Messages));
    assert_eq!(queue.push(EndpointId(2), of("d", 41)), Err(QueueFull::Bytes));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (why, id) = (WhyDead::Attempts { last: String::new() }, |id: &str| MessageId(id.into()));
    let not_first = runtime.block_on(identity::Queue::delivered(&queue, EndpointId(1), &id("b")));
    assert!(not_first.is_err(), "only the oldest can be told");
    for one in ["a", "b"] {
        let one = id(one);
        let dead = identity::Queue::dead(&queue, EndpointId(1), &one, why.clone(), UnixMillis(0));
        runtime.block_on(dead).expect("it is the oldest");
    }
    let dead: Vec<String> =
        queue.dead_letters(EndpointId(1)).into_iter().map(|letter| letter.message.id.0).collect();
    assert_eq!(dead, ["b"], "the oldest dead letter is forgotten");
    assert_eq!(queue.dead_count(EndpointId(1)), 1);
    assert_eq!(queue.push(EndpointId(2), of("d", 100)), Ok(()), "the bytes are free again");
    queue.remove(EndpointId(2));
    assert_eq!(queue.push(EndpointId(3), of("e", 100)), Ok(()), "what waited for it takes nothing");
    queue.remove(EndpointId(1));
    assert_eq!((queue.dead_letters(EndpointId(1)).len(), queue.len()), (0, 1));
}

/// Each endpoint's messages arrive in order, whatever fails and however many there are.
#[tokio::test]
async fn order_holds_for_each_endpoint_under_failures() {
    let seen: Arc<Mutex<HashMap<String, Vec<String>>>> = Arc::default();
    let (at_site, asked) = (seen.clone(), AtomicUsize::new(0));
    let site = Site::start(move |request| {
        let (seen, nth) = (at_site.clone(), asked.fetch_add(1, Ordering::SeqCst));
        async move {
            if nth % 3 == 0 {
                return answer(500, "");
            }
            let id = request.header("webhook-id").to_owned();
            seen.lock().expect("no panic").entry(request.path).or_default().push(id);
            answer(200, "")
        }
    })
    .await;
    let retries = Retries { attempts_max: 1000, ..quick().retries };
    let endpoints = (10..50).map(|id| endpoint(id, site.target(&format!("/{id}"))));
    let sending = Sending::start(endpoints, DeliverySettings { retries, ..quick() });
    for n in 0..10 {
        (10..50).for_each(|id| sending.push(id, &format!("{n}")));
    }
    assert_eq!(sending.is_done().await.delivered, 400);
    let expected: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    let seen = seen.lock().expect("no panic").clone();
    assert_eq!(seen.len(), 40);
    assert!(seen.values().all(|ids| *ids == expected), "{seen:?}");
    sending.stop().await;
}
