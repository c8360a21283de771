//! Plans for tests, and runs of them with all their observations.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod servers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use load::draw::Distribution;
use load::observe::{Batch, Kind, Observation, Outcome};
use load::player::{EndReason, Options, Player, Share, start};
use load::scenario::plan::{
    Action, Arrivals, Audience, Body, Connect, Dialect, LabelId, Limits, Load, Loop, Matcher, Phase, Plan,
    Send, Session, Sources, Step, Target, TlsTrust, Wait,
};
use load::scenario::template::{Part, Template};
use load::statistics::GeneratorMemory;

/// Longer than anything here takes, even on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The result of a run.
pub(crate) struct Run {
    pub(crate) why: EndReason,
    pub(crate) seen: Vec<Observation>,
    pub(crate) examples: Arc<load::observe::Examples>,
    pub(crate) memory: GeneratorMemory,
}

impl Run {
    /// Returns how many observations of a kind had this outcome.
    pub(crate) fn count(&self, kind: Kind, outcome: Outcome) -> usize {
        self.of(kind, outcome).count()
    }

    pub(crate) fn of(&self, kind: Kind, outcome: Outcome) -> impl Iterator<Item = &Observation> {
        self.seen.iter().filter(move |seen| seen.kind == kind && seen.outcome == outcome)
    }

    /// Returns the outcomes of a kind, in order.
    pub(crate) fn outcomes(&self, kind: Kind) -> Vec<Outcome> {
        self.seen.iter().filter(|seen| seen.kind == kind).map(|seen| seen.outcome).collect()
    }

    /// Returns the number of deliveries that the sent messages should have caused, and their outcomes.
    pub(crate) fn accounts(&self) -> Accounts {
        let missing = |outcome| self.of(Kind::Missing, outcome).map(|seen| u64::from(seen.count)).sum();
        Accounts {
            expected: self.of(Kind::Send, Outcome::Ok).map(|seen| u64::from(seen.count)).sum(),
            delivered: (self.count(Kind::Receive, Outcome::Ok)
                + self.count(Kind::Receive, Outcome::Reordered)) as u64,
            lost: missing(Outcome::Lost),
            in_flight: missing(Outcome::InFlight),
        }
    }

    /// Asserts that every user that arrived has finished exactly once, and that the deliveries add up.
    #[track_caller]
    pub(crate) fn assert_complete(&self) {
        let arrived = self.count(Kind::Arrival, Outcome::Ok);
        let finished = self.outcomes(Kind::Finish).len();
        assert_eq!(arrived, finished, "arrivals and finishes");
        let Accounts { expected, delivered, lost, in_flight } = self.accounts();
        assert_eq!(expected, delivered + lost + in_flight, "{:?}", self.accounts());
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Accounts {
    pub(crate) expected: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) in_flight: u64,
}

/// Returns a plan with one user that runs these steps against the server.
pub(crate) fn plan(server: SocketAddr, steps: Vec<Action>) -> Plan {
    Plan {
        name: "test".to_owned(),
        seed: 7,
        targets: vec![Target {
            tls: false,
            host: server.ip().to_string(),
            port: server.port(),
            base_path: String::new(),
            weight: 1.0,
        }],
        sources: Sources::default(),
        tls: TlsTrust::default(),
        load: load(Arrivals::Burst(1)),
        sessions: vec![Session {
            name: "test".to_owned(),
            weight: 1.0,
            steps: actions(steps),
            label: LabelId(0),
        }],
        variables: vec!["first".to_owned(), "second".to_owned()],
        labels: vec!["test".to_owned(), "other".to_owned()],
        barriers: vec!["all".to_owned()],
        feeders: Vec::new(),
        sequences: 1,
        thresholds: Vec::new(),
        drain: Duration::from_millis(300),
        event_log: false,
        limits: Limits::default(),
    }
}

pub(crate) fn load(arrivals: Arrivals) -> Load {
    let phase = Phase {
        name: "test".to_owned(),
        duration: None,
        arrivals,
        users_max: None,
        weights: None,
        wait_for_users: false,
    };
    Load { phases: vec![phase], rounds: 1, duration: None }
}

pub(crate) fn actions(steps: Vec<Action>) -> Vec<Step> {
    steps.into_iter().map(|action| Step { label: None, action }).collect()
}

pub(crate) fn connect() -> Connect {
    Connect {
        path: Template::text("/room"),
        dialect: Dialect::Raw,
        room: None,
        echo: false,
        subprotocols: Vec::new(),
        origin: None,
        headers: Vec::new(),
        deflate: false,
        connect_timeout: DEADLINE,
        handshake_timeout: DEADLINE,
        reconnect: None,
    }
}

pub(crate) fn stamped(audience: Audience) -> Action {
    let body = Template { parts: vec![Part::Text("hello ".to_owned()), Part::Stamp] };
    Action::Send(Send { binary: false, body: Body::Template(body), audience })
}

pub(crate) fn own_echo() -> Action {
    wait(Matcher { own_echo: true, ..Matcher::default() }, DEADLINE)
}

pub(crate) fn wait(until: Matcher, timeout: Duration) -> Action {
    Action::Wait(Wait { until, count: 1, timeout, required: true })
}

pub(crate) fn repeat(times: u32, steps: Vec<Action>) -> Action {
    Action::Loop(Loop {
        times: Some(Distribution::Constant(f64::from(times))),
        during: None,
        condition: None,
        at_end: false,
        counter: None,
        steps: actions(steps),
    })
}

pub(crate) fn think(seconds: f64) -> Action {
    Action::Think(Distribution::Constant(seconds))
}

/// A run in progress, with a thread that collects its observations.
pub(crate) struct Playing {
    pub(crate) player: Player,
    reader: thread::JoinHandle<Vec<Observation>>,
}

pub(crate) fn begin(plan: Plan) -> Playing {
    begin_with(plan, Some(2))
}

pub(crate) fn begin_with(plan: Plan, shards: Option<usize>) -> Playing {
    let (sink, source) = sync_channel::<Batch>(64);
    let reader = thread::spawn(move || source.iter().flat_map(|batch| batch.observations).collect());
    let options = Options {
        shards,
        share: Share::whole(),
        start: Instant::now(),
        start_unix_ns: 1_700_000_000_000_000_000,
        run_tag: 77,
    };
    let player = start(Arc::new(plan), options, sink).expect("the plan can be played");
    Playing { player, reader }
}

impl Playing {
    pub(crate) fn wait(self) -> Run {
        let examples = self.player.examples();
        let ended = self.player.wait();
        let seen = self.reader.join().expect("the reader ends with the run");
        Run { why: ended.why, seen, examples, memory: ended.memory }
    }
}

pub(crate) fn play(plan: Plan) -> Run {
    begin(plan).wait()
}

/// Like [`play`], with this number of shards if given; returns how many were used.
pub(crate) fn play_with(plan: Plan, shards: Option<usize>) -> (Run, usize) {
    let playing = begin_with(plan, shards);
    let shards = playing.player.shards();
    (playing.wait(), shards)
}
