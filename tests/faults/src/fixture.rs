//! A gateway inside the test's process, of one test alone.

use crate::client::{Client, PATIENCE};
use crate::room::{End, Gate, Room};
use crate::tls::{Trust, self_signed};
use gateway::{CloseReason, DeflateConfig, Gateway, GatewayBuilder, Handle, Limits, Mount, Running};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Two shards with the mounts `/socket` (rooms; no idle timeout), `/brief` (rooms; an idle timeout) and `/echo` (raw,
/// with compression), in the clear and by TLS.
pub struct Fixture {
    running: Running,
    trust: Trust,
    gate: Gate,
    ends: Receiver<End>,
}

impl Fixture {
    /// How long a client of `/brief` may be silent, and how long a poll there waits.
    pub const BRIEF: Duration = Duration::from_secs(1);
    /// The largest frame and message of every mount.
    pub const MESSAGE_BYTES_MAX: usize = 256 << 10;
    /// The V2 sockets of the mount without an idle timeout.
    pub const SOCKET: &str = "/socket/websocket?vsn=2.0.0";
    /// The V2 sockets of the mount with one.
    pub const BRIEF_SOCKET: &str = "/brief/websocket?vsn=2.0.0";
    /// The raw sockets.
    pub const ECHO: &str = "/echo/websocket";

    /// With the default limits.
    #[must_use]
    pub fn start() -> Fixture {
        Fixture::start_with(Limits::default())
    }

    /// With other limits.
    #[must_use]
    pub fn start_with(limits: Limits) -> Fixture {
        Fixture::build(Gateway::builder().limits(limits))
    }

    /// From a builder with more mounts or other limits.
    #[must_use]
    pub fn build(builder: GatewayBuilder) -> Fixture {
        let (ends_sender, ends) = channel();
        let gate = Gate::default();
        let rooms = |path| {
            let (gate, ends) = (gate.clone(), ends_sender.clone());
            let mount = Mount::channels(path).frame_bytes_max(Self::MESSAGE_BYTES_MAX);
            mount.channel("room:*", move || Room::new(gate.clone(), Some(ends.clone())))
        };
        let echo = Mount::echo("/echo").frame_bytes_max(Self::MESSAGE_BYTES_MAX).idle_timeout(None);
        let (config, certificate) = self_signed();
        let running = builder
            .listen(([127, 0, 0, 1], 0))
            .listen_tls(([127, 0, 0, 1], 0), config)
            .shards(2)
            .mount(rooms("/socket").idle_timeout(None))
            .mount(rooms("/brief").idle_timeout(Some(Self::BRIEF)).longpoll(Some(Self::BRIEF)))
            .mount(echo.compression(Some(DeflateConfig::default())))
            .start()
            .expect("a free port");
        Fixture { running, trust: Trust::certificate(certificate), gate, ends }
    }

    /// Where it listens without TLS.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.running.local_addresses()[0]
    }

    /// Where it listens for TLS.
    #[must_use]
    pub fn tls_address(&self) -> SocketAddr {
        self.running.tls_addresses()[0]
    }

    /// What a client by TLS has to trust.
    #[must_use]
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The gateway's own handle.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.running.handle()
    }

    /// Holds back joins to topics with `late` in their name.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The next channel that ends.
    pub fn channel_end(&self) -> End {
        self.ends.recv_timeout(PATIENCE).expect("a channel ends in time")
    }

    /// Connections that ended so.
    #[must_use]
    pub fn closed(&self, reason: CloseReason) -> u64 {
        let closed = self.handle().metrics().closed;
        closed.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count)
    }

    /// Connections that were refused so.
    #[must_use]
    pub fn rejected(&self, reason: &str) -> u64 {
        let rejected = self.handle().metrics().rejected;
        rejected.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count)
    }

    /// Waits until nobody is connected and nothing of anybody is left.
    pub fn wait_until_empty(&self) {
        let handle = self.handle();
        wait_until("nothing is left", || {
            let now = handle.metrics();
            (now.connections_open, now.longpoll_sessions, now.joined, now.topics, now.outbox_bytes)
                == (0, 0, 0, 0, 0)
        });
    }

    /// A newcomer finds everything in order.
    pub fn assert_serves(&self) {
        let mut client = Client::open(self.address(), Self::SOCKET);
        assert_eq!(client.join("room:newcomer")["status"], "ok");
        let payload = serde_json::json!({ "still": "here" });
        assert_eq!(client.ask("2", "room:newcomer", "echo", &payload)["response"], payload);
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.gate.open();
        self.handle().stop();
    }
}

/// Looks until `is_so`: numbers that other threads write tell nobody that they changed.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
