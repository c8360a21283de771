//! A node under test: a bus on its own thread, its requests and the events it reports.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod folder;
pub(crate) mod nats_server;
pub(crate) mod proxy;
pub(crate) mod redis_cluster;
pub(crate) mod redis_server;
pub(crate) mod server;
pub(crate) mod settings;

use bus::{Bus, NodeAddress, Port, Settings, Snapshot, State, Status};
use hub::{
    AppendError, AppendToken, BusEffect, BusEvent, BusHistory, Draft, Histories, Micros, NodeId, NodePeople,
    Ordered, Outgoing, Pattern, PhxRef, Position, PresenceChange, PresenceMeta, Publication, PublisherId,
    ReadToken, Retention, ShardIndex, Span, SubscriptionId,
};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Time limit for any wait. Only a broken bus reaches it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);
/// The shard that makes all requests.
pub(crate) const SHARD: ShardIndex = ShardIndex(3);

/// Topics whose names begin with `kept:` keep 1000 messages for ten minutes, those with `short:` three messages, and
/// those with `brief:` one second.
pub(crate) fn histories() -> Histories {
    let rule = |pattern: &str, messages_max, age_s: u64| {
        let retention = Retention { messages_max, age_us_max: age_s * 1_000_000, ..Retention::default() };
        (Pattern::parse(pattern).expect("a pattern"), retention)
    };
    [rule("kept:*", 1000, 600), rule("short:*", 3, 600), rule("brief:*", 1000, 1)].into_iter().collect()
}

type Peers = Arc<(Mutex<Vec<(NodeId, NodeAddress)>>, Condvar)>;
type Said = Arc<(Mutex<Vec<(Option<ShardIndex>, BusEvent)>>, Condvar)>;

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) status: Status,
    wants: Option<UnboundedSender<(ShardIndex, Vec<BusEffect>)>>,
    kill: Option<tokio::sync::oneshot::Sender<()>>,
    said: Said,
    peers: Peers,
    thread: Option<JoinHandle<()>>,
    tokens: AtomicU32,
}

impl Node {
    /// Starts a node without waiting until its engine is up.
    pub(crate) fn start(settings: Settings) -> Node {
        Node::start_listening(settings, None)
    }

    /// Starts a node with an address where it listens for the others.
    pub(crate) fn start_listening(settings: Settings, listening: Option<NodeAddress>) -> Node {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let id = NodeId(IDS.fetch_add(1, Ordering::Relaxed) << 32 | u64::from(std::process::id()));
        let said = Said::default();
        let bus = Bus::new(settings).expect("settings");
        let status = bus.status();
        let (wants, requests) = unbounded_channel();
        let (kill, killed) = tokio::sync::oneshot::channel();
        let hears = said.clone();
        let peers = Peers::default();
        let knows = peers.clone();
        let port = Port {
            node: id,
            began: Instant::now(),
            listening,
            requests,
            tell: Arc::new(move |shard, event| {
                hears.0.lock().expect("no test panics with it").push((shard, event));
                hears.1.notify_all();
            }),
            tell_peers: Arc::new(move |peers| {
                *knows.0.lock().expect("no test panics with it") = peers;
                knows.1.notify_all();
            }),
        };
        let run = move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                tokio::select! {
                    () = bus.run(port) => {}
                    _ = killed => {}
                }
            });
        };
        let thread = Some(std::thread::spawn(run));
        Node {
            id,
            status,
            wants: Some(wants),
            kill: Some(kill),
            said,
            peers,
            thread,
            tokens: AtomicU32::new(1),
        }
    }

    /// Starts a node and waits until it is up.
    pub(crate) fn up(settings: Settings) -> Node {
        let node = Node::start(settings);
        node.waits_for_up();
        node
    }

    pub(crate) fn waits_for_up(&self) {
        self.hears("up", |event| matches!(event, BusEvent::Up).then_some(()));
    }

    pub(crate) fn waits_for_down(&self) {
        self.hears("down", |event| matches!(event, BusEvent::Down).then_some(()));
    }

    /// Ends abruptly, as a killed process does.
    pub(crate) fn kill(mut self) {
        if let (Some(kill), Some(thread)) = (self.kill.take(), self.thread.take()) {
            let _ = kill.send(());
            thread.join().expect("the bus does not panic");
        }
    }

    pub(crate) fn wants(&self, effect: BusEffect) {
        self.wants.as_ref().expect("running").send((SHARD, vec![effect])).expect("it listens");
    }

    /// Waits for an event, and removes it from the recorded ones. Earlier events stay.
    pub(crate) fn hears<T>(&self, what: &str, find: impl FnMut(&BusEvent) -> Option<T>) -> T {
        self.hears_for(what, find).1
    }

    /// Like [`Node::hears`], and returns the shard that the event was for, if it was for a single one.
    pub(crate) fn hears_for<T>(
        &self,
        what: &str,
        mut find: impl FnMut(&BusEvent) -> Option<T>,
    ) -> (Option<ShardIndex>, T) {
        let began = Instant::now();
        let mut said = self.said.0.lock().expect("no test panics with it");
        loop {
            let found =
                said.iter().enumerate().find_map(|(at, (shard, event))| Some((at, *shard, find(event)?)));
            if let Some((at, shard, found)) = found {
                said.remove(at);
                return (shard, found);
            }
            let left = DEADLINE.checked_sub(began.elapsed()).unwrap_or_else(|| {
                panic!("{what} was not heard within {DEADLINE:?}, but {said:?}; {:?}", self.status.state())
            });
            said = self.said.1.wait_timeout(said, left).expect("no test panics with it").0;
        }
    }

    /// Waits until it knows that exactly these nodes listen, with their addresses and secrets.
    pub(crate) fn knows_peers(&self, wanted: &[(NodeId, NodeAddress)]) {
        let mut wanted = wanted.to_vec();
        wanted.sort_by_key(|(node, _)| *node);
        let known = self.peers.0.lock().expect("no test panics with it");
        let waited = self.peers.1.wait_timeout_while(known, DEADLINE, |peers| *peers != wanted);
        assert_eq!(*waited.expect("no test panics with it").0, wanted);
    }

    /// Resets what it knows of other nodes.
    pub(crate) fn forgets_peers(&self) {
        self.peers.0.lock().expect("no test panics with it").clear();
    }

    /// Returns the recorded events that were not removed.
    pub(crate) fn rest(&self) -> Vec<BusEvent> {
        self.said.0.lock().expect("no test panics with it").iter().map(|(_, event)| event.clone()).collect()
    }

    fn token(&self) -> u32 {
        self.tokens.fetch_add(1, Ordering::Relaxed)
    }

    /// Subscribes and waits; returns the topic's position, if it is recoverable.
    pub(crate) fn subscribe(&self, topic: &str) -> Option<Position> {
        let asked = self.asks_for(topic);
        self.hears("a subscription", |event| match event {
            BusEvent::Subscribed { topic: of, subscription, position } if *subscription == asked => {
                assert_eq!(&**of, topic);
                Some(position.clone())
            }
            _ => None,
        })
    }

    pub(crate) fn asks_for(&self, topic: &str) -> SubscriptionId {
        let subscription = SubscriptionId(self.token());
        self.wants(BusEffect::Interest { topic: topic.into(), on: Some(subscription) });
        subscription
    }

    pub(crate) fn unsubscribe(&self, topic: &str) {
        self.wants(BusEffect::Interest { topic: topic.into(), on: None });
    }

    pub(crate) fn publish(&self, topic: &str, payload: Outgoing<'static>) {
        let (topic, event, received) = (topic.into(), "said".into(), Micros(0));
        self.wants(BusEffect::Publish(Arc::new(Publication {
            topic,
            event,
            payload,
            received,
            place: None,
        })));
    }

    pub(crate) fn asks_to_append(&self, topic: &str, text: &str) -> AppendToken {
        self.asks_to_append_except(topic, text, None)
    }

    pub(crate) fn asks_to_append_except(
        &self,
        topic: &str,
        text: &str,
        except: Option<PublisherId>,
    ) -> AppendToken {
        let (token, payload) = (AppendToken(self.token()), json(text));
        let draft = Draft { topic: topic.into(), event: "said".into(), payload, received: Micros(0), except };
        self.wants(BusEffect::Append { draft: Box::new(draft), token });
        token
    }

    pub(crate) fn append_answer(&self, asked: AppendToken) -> Result<Position, AppendError> {
        self.hears("an answer to an append", |event| match event {
            BusEvent::Appended { token, result } if *token == asked => Some(result.clone()),
            _ => None,
        })
    }

    pub(crate) fn append(&self, topic: &str, text: &str) -> Position {
        self.append_answer(self.asks_to_append(topic, text)).expect("it is kept")
    }

    pub(crate) fn ordered(&self, topic: &str) -> Ordered {
        self.hears("an ordered publication", |event| match event {
            BusEvent::Ordered(ordered) if &*ordered.draft.topic == topic => Some((**ordered).clone()),
            _ => None,
        })
    }

    pub(crate) fn read(&self, topic: &str, span: Span) -> BusHistory {
        let asked = ReadToken(self.token());
        self.wants(BusEffect::ReadHistory { topic: topic.into(), span, token: asked });
        self.hears("a history", |event| match event {
            BusEvent::History { token, history, .. } if *token == asked => {
                Some(history.clone().expect("it is read"))
            }
            _ => None,
        })
        .as_ref()
        .clone()
    }

    pub(crate) fn comes(&self, topic: &str, (version, previous): (u64, u64), meta: &PresenceMeta) {
        let change = Box::new(PresenceChange { left: None, joined: Some(meta.clone()) });
        self.wants(BusEffect::Present { topic: topic.into(), version, previous, change });
    }

    pub(crate) fn goes(&self, topic: &str, (version, previous): (u64, u64), meta: &PresenceMeta) {
        let change =
            Box::new(PresenceChange { left: Some((meta.key.clone(), meta.reference)), joined: None });
        self.wants(BusEffect::Present { topic: topic.into(), version, previous, change });
    }

    pub(crate) fn who_is_there(&self, topic: &str) -> Vec<NodePeople> {
        self.wants(BusEffect::ReadPeople { topic: topic.into() });
        self.hears("who is there", |event| match event {
            BusEvent::People { topic: of, nodes } if &**of == topic => nodes.clone(),
            _ => None,
        })
    }

    /// Waits until exactly these nodes have a valid lease.
    pub(crate) fn sees_leases(&self, nodes: &[NodeId]) {
        let mut wanted = nodes.to_vec();
        wanted.sort();
        self.hears("leases", |event| match event {
            BusEvent::Leases(live) if *live == wanted => Some(()),
            _ => None,
        });
    }

    /// Waits until the reason why the engine is away contains these words.
    pub(crate) fn is_away_because(&self, words: &str) -> String {
        let because = |now: &Snapshot| match &now.state {
            State::Away { because, .. } if because.contains(words) => Some(because.clone()),
            State::Away { .. } | State::Up { .. } => None,
        };
        let now = self.waits_until(&format!("away because of {words:?}"), |now| because(now).is_some());
        because(&now).expect("it was waited for")
    }

    /// Polls until the status meets the condition.
    pub(crate) fn waits_until(&self, what: &str, is_so: impl Fn(&Snapshot) -> bool) -> Snapshot {
        let began = Instant::now();
        loop {
            let now = self.status.snapshot();
            if is_so(&now) {
                return now;
            }
            assert!(began.elapsed() < DEADLINE, "waited in vain: {what}; {now:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.wants.take());
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok() || std::thread::panicking(), "the bus panicked");
        }
    }
}

pub(crate) fn json(text: &str) -> Outgoing<'static> {
    Outgoing::Json(format!("{{\"n\":\"{text}\"}}").into())
}

/// Returns the texts of publications, as passed to [`Node::append`].
pub(crate) fn texts(ordered: &[Ordered]) -> Vec<String> {
    let text = |ordered: &Ordered| match &ordered.draft.payload {
        Outgoing::Json(json) => json.trim_start_matches("{\"n\":\"").trim_end_matches("\"}").to_owned(),
        Outgoing::Binary(_) => panic!("JSON"),
    };
    ordered.iter().map(text).collect()
}

pub(crate) fn person(key: &str, number: u8) -> PresenceMeta {
    let reference = PhxRef::parse(&format!("{number:016}")).expect("16 digits");
    PresenceMeta { key: key.into(), reference, json: format!("{{\"phx_ref\":\"{number:016}\"}}").into() }
}
