//! Assembles a gateway and starts it.

use crate::admission::Admission;
use crate::bus_port::{Around, BusPort, RunBus, bus_port};
use crate::control::{Control, ControlMail, Listeners, Refusals};
use crate::handle::{Handle, Running};
use crate::handshake::{Handshakes, Rejection, refusal};
use crate::life::Life;
use crate::limits::Limits;
use crate::listening::{Listening, ListeningTls, bind_for_nodes};
use crate::longpoll::BODIES_KIB_MAX;
use crate::memory::{Account, Allowance, HttpConnections, SOCKET_BUFFERS, Shares, Watch};
use crate::metrics::{Metrics, ShardMetrics};
use crate::mount::Mount;
use crate::nodes::Nodes;
use crate::pace::Pace;
use crate::proxies::{Network, Proxies};
use crate::relay::Relay;
use crate::shard::{ShardDriver, Shared, Transits, Turns};
use crate::start_error::StartError;
use crate::words::{Ear, FromNodes};
use engine::{EngineConfig, EngineLimits, SocketBuffers, Tables};
use hub::{Histories, HubConfig, NodeId, OwnerOf, Pattern, PatternError, Retention, ShardIndex};
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use std::{io, thread};
use tokio::sync::{Semaphore, mpsc};

/// The entry point: [`Gateway::builder`].
pub struct Gateway;

impl Gateway {
    /// Creates a builder for a gateway that does not listen or serve anything yet.
    pub fn builder() -> GatewayBuilder {
        GatewayBuilder {
            listen: Vec::new(),
            listen_tls: Vec::new(),
            listen_for_nodes: None,
            trusted_proxies: Vec::new(),
            mounts: Vec::new(),
            router: axum::Router::new(),
            shards: None,
            tables: Tables::Shared,
            limits: Limits::default(),
            histories: Vec::new(),
            bus: None,
            ear: None,
            owner_of: None,
        }
    }
}

/// The configuration of a gateway.
pub struct GatewayBuilder {
    listen: Vec<Listening>,
    listen_tls: Vec<ListeningTls>,
    listen_for_nodes: Option<SocketAddr>,
    trusted_proxies: Vec<Network>,
    mounts: Vec<Mount>,
    router: axum::Router,
    shards: Option<usize>,
    tables: Tables,
    limits: Limits,
    histories: Vec<(String, Retention)>,
    bus: Option<RunBus>,
    ear: Option<Ear>,
    owner_of: Option<OwnerOf>,
}

impl GatewayBuilder {
    /// Adds an address to listen at for HTTP and WebSockets.
    pub fn listen(mut self, address: impl Into<SocketAddr>) -> GatewayBuilder {
        self.listen.push(Listening { address: address.into(), announced: false });
        self
    }

    /// Adds an address for load balancers that begin each connection with a PROXY protocol header, version 2.
    /// Connections that do not come from [`trusted_proxies`](GatewayBuilder::trusted_proxies), or begin with something
    /// else, are cut and counted.
    pub fn listen_proxied(mut self, address: impl Into<SocketAddr>) -> GatewayBuilder {
        self.listen.push(Listening { address: address.into(), announced: true });
        self
    }

    /// Adds an address to listen at for HTTP and WebSockets over TLS.
    pub fn listen_tls(
        mut self,
        address: impl Into<SocketAddr>,
        config: Arc<rustls::ServerConfig>,
    ) -> GatewayBuilder {
        let listening = Listening { address: address.into(), announced: false };
        self.listen_tls.push(ListeningTls { listening, config });
        self
    }

    /// Like [`listen_tls`](GatewayBuilder::listen_tls), behind a PROXY protocol header; see
    /// [`listen_proxied`](GatewayBuilder::listen_proxied).
    pub fn listen_tls_proxied(
        mut self,
        address: impl Into<SocketAddr>,
        config: Arc<rustls::ServerConfig>,
    ) -> GatewayBuilder {
        let listening = Listening { address: address.into(), announced: true };
        self.listen_tls.push(ListeningTls { listening, config });
        self
    }

    /// Adds networks of trusted load balancers. For a connection from one of them, the client's address comes from
    /// `X-Forwarded-For`, or from a PROXY protocol header if the listener expects one; limits per IP address,
    /// [`ConnectRequest::remote`] and [`RemotePeer`] then refer to that client. A proxy's own connections are bounded
    /// only by [`Limits::http_connections_max`]. Default: none; no such header is trusted.
    ///
    /// [`ConnectRequest::remote`]: crate::ConnectRequest::remote
    /// [`RemotePeer`]: crate::RemotePeer
    pub fn trusted_proxies(mut self, networks: impl IntoIterator<Item = Network>) -> GatewayBuilder {
        self.trusted_proxies.extend(networks);
        self
    }

    /// Adds a mount. If two match a path, the first wins.
    pub fn mount(mut self, mount: Mount) -> GatewayBuilder {
        self.mounts.push(mount);
        self
    }

    /// Sets the router for requests that do not match a mount. Requests carry a [`RemotePeer`](crate::RemotePeer)
    /// extension.
    pub fn http(mut self, router: axum::Router) -> GatewayBuilder {
        self.router = router;
        self
    }

    /// Sets the number of shards. Default: one per core.
    pub fn shards(mut self, shards: usize) -> GatewayBuilder {
        self.shards = Some(shards);
        self
    }

    /// Sets whether each shard has a descriptor table of its own, for more connections than a process may have.
    /// Default: one table for all.
    pub fn tables(mut self, tables: Tables) -> GatewayBuilder {
        self.tables = tables;
        self
    }

    /// Replaces the default limits.
    pub fn limits(mut self, limits: Limits) -> GatewayBuilder {
        self.limits = limits;
        self
    }

    /// Makes topics that match `pattern` (`room:lobby` or `room:*`) recoverable: their publications are ordered and
    /// stored for a while, and a client that reconnects gets what it missed. The first pattern that matches wins;
    /// topics without a match are ephemeral. [`Limits::history_bytes_max`] bounds all histories together.
    pub fn history(mut self, pattern: &str, retention: Retention) -> GatewayBuilder {
        self.histories.push((pattern.to_owned(), retention));
        self
    }

    /// Sets how a topic's owner is read from its name. Owners (for example the tenants of a server) share each shard's
    /// fan-out evenly, however many topics each has. Topics without an owner count as those of one owner. Default: all
    /// topics take turns.
    pub fn share_fan_out(mut self, owner_of: OwnerOf) -> GatewayBuilder {
        self.owner_of = Some(owner_of);
        self
    }

    /// Connects this node to others by a bus: publications reach the members on all nodes, and presence covers all of
    /// them. `run` is called once, on the control plane's runtime, and the future that it returns runs there until the
    /// gateway stops. Until it reports an event, the bus counts as away.
    pub fn bus<F>(mut self, run: impl FnOnce(BusPort) -> F + Send + 'static) -> GatewayBuilder
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.bus = Some(Box::new(move |port| Box::pin(run(port))));
        self
    }

    /// Sets a callback for messages of the other nodes' programs ([`Handle::tell_nodes`]) and for changes in the state
    /// of the bus and the nodes. It runs on the control plane's runtime and must not block.
    pub fn hear_nodes(mut self, hear: impl Fn(FromNodes<'_>) + Send + Sync + 'static) -> GatewayBuilder {
        self.ear = Some(Arc::new(hear));
        self
    }

    /// Listens for the other nodes of the cluster, which forward requests of long-polling clients for sessions of this
    /// node, so that a load balancer may send each request to any node. The bus informs them of the address and of the
    /// secret that they must present ([`BusPort::listening`](crate::BusPort)). It speaks HTTP/2 without TLS, and is
    /// meant for a private network.
    pub fn listen_for_nodes(mut self, address: impl Into<SocketAddr>) -> GatewayBuilder {
        self.listen_for_nodes = Some(address.into());
        self
    }

    /// Starts the shards and the control plane. After an error, only threads that end by themselves are still running.
    pub fn start(self) -> Result<Running, StartError> {
        self.limits.check().map_err(StartError::Limits)?;
        for mount in &self.mounts {
            mount.check_path().map_err(StartError::Path)?;
            mount.routes().map_err(StartError::Pattern)?;
        }
        self.check_proxies_are_named()?;
        self.histories().map_err(StartError::Pattern)?;
        let tls = self
            .listen_tls
            .iter()
            .map(|tls| tls.bind(self.socket_buffers()))
            .collect::<Result<Vec<_>, _>>()?;
        let for_nodes = self.listen_for_nodes.map(bind_for_nodes).transpose()?;
        let shards = self.shards.unwrap_or_else(cores);
        let prepared =
            engine::prepare::<ShardDriver>(self.engine_config(shards)).map_err(StartError::Engine)?;
        let shared = Arc::new(self.shared(shards, prepared.population())?);
        let relay = Relay::start(self.tables).map_err(StartError::System)?;
        let (control_sender, inbox) = mpsc::unbounded_channel();
        let mailboxes = prepared.mailboxes();
        let nodes = Arc::new(Nodes::new(shared.node).map_err(StartError::System)?);
        let node_address = for_nodes.as_ref().and_then(|listener| listener.local_addr().ok());
        let (bus_sender, port) = match shared.hub.bus {
            Some(_) => {
                let listening = node_address.map(|address| nodes.listening(address));
                let around = Around { nodes: nodes.clone(), listening, ear: self.ear.clone() };
                let (bus_sender, port) = bus_port(&shared, around, mailboxes.clone(), relay.clone());
                (Some(bus_sender), Some(port))
            }
            None => (None, None),
        };
        let words = bus_sender.clone();
        let make = {
            let (shared, mailboxes, relay) = (shared.clone(), mailboxes.clone(), relay.clone());
            let control = control_sender.clone();
            move |shard: engine::ShardIndex| {
                let shard = ShardIndex(shard.0);
                let (mailboxes, relay, control) = (mailboxes.clone(), relay.clone(), control.clone());
                ShardDriver::new(shared.clone(), shard, mailboxes, relay, control, bus_sender.clone())
            }
        };
        let handoff =
            Box::new(move |connection| drop(control_sender.send(ControlMail::HandedOff(connection))));
        let started = prepared.start(make, handoff).map_err(StartError::Engine)?;
        let counters = (0..shards).map(|shard| started.counters(engine::ShardIndex(shard as u16))).collect();
        let addresses = started.local_addresses().to_vec();
        let tls_addresses = tls.iter().filter_map(|tls| tls.listener.local_addr().ok()).collect();
        let engine = Arc::new(OnceLock::from(started));
        let life = Arc::new(Life::new());
        let places = Arc::new(Semaphore::new(self.limits.http_connections_max));
        let longpolls = Arc::new(AtomicUsize::new(0));
        let refusals = Arc::new(Refusals::new(self.limits.tls_refusals_per_second_max));
        let control = Control {
            shared: shared.clone(),
            mailboxes: mailboxes.clone(),
            relay: relay.clone(),
            router: self.router,
            engine: engine.clone(),
            life: life.clone(),
            places: places.clone(),
            sessions: Arc::new(Semaphore::new(self.limits.longpoll_sessions_max)),
            refusals: refusals.clone(),
            longpolls: longpolls.clone(),
            bodies: Semaphore::new(BODIES_KIB_MAX as usize),
            next_shard: AtomicUsize::new(0),
            nodes: nodes.clone(),
        };
        let metrics = Metrics { shards: shared.metrics.clone(), engine: counters, nodes, refusals };
        let (admission, http_max) = (shared.admission.clone(), self.limits.http_connections_max);
        let http = HttpConnections { places, places_max: http_max, longpolls };
        let account = Account::open(metrics.clone(), admission, http);
        let begin = |bytes| Watch::begin(bytes, account.clone(), shared.allowance.clone());
        let watch = self.limits.memory_budget.map(begin).transpose().map_err(StartError::MemoryBudget)?;
        let budget = self.limits.memory_budget.zip(watch.as_ref().map(Watch::capacity));
        let bus = self.bus.zip(port);
        let listeners = Listeners { tls, nodes: for_nodes };
        control.start(inbox, listeners, watch, bus).map_err(StartError::System)?;
        let handle = Handle { mailboxes, relay, shared, engine, metrics, account, budget, life, words };
        Ok(Running { handle, addresses, tls_addresses, node_address })
    }

    /// A listener that expects proxies accepts only trusted ones, so there must be some.
    fn check_proxies_are_named(&self) -> Result<(), StartError> {
        let by_tls = self.listen_tls.iter().map(|tls| &tls.listening);
        let announced = self.listen.iter().chain(by_tls).find(|listening| listening.announced);
        match announced.filter(|_| self.trusted_proxies.is_empty()) {
            Some(listening) => Err(StartError::NoTrustedProxy(listening.address)),
            None => Ok(()),
        }
    }

    fn histories(&self) -> Result<Histories, PatternError> {
        let rule = |(pattern, retention): &(String, Retention)| Ok((Pattern::parse(pattern)?, *retention));
        self.histories.iter().map(rule).collect()
    }

    fn engine_config(&self, shards: usize) -> EngineConfig {
        let parts = self.shares(shards);
        let limits = EngineLimits {
            outbox_bytes_max: self.limits.outbox_bytes_max,
            outboxes_bytes_max: parts.map_or(usize::MAX, |parts| parts.outboxes as usize),
            send_queues_bytes_max: parts.map_or(usize::MAX, |parts| parts.send_queues as usize),
            socket_buffers: self.socket_buffers(),
            refusal: refusal(&Rejection::full()).into(),
            mailbox_len_max: self.limits.mailbox_len_max,
            connections_max: self.limits.connections_max,
            ..EngineLimits::default()
        };
        let listen = self.listen.iter().map(|listening| listening.address).collect();
        EngineConfig { shards, tables: self.tables, limits, ..EngineConfig::new(listen) }
    }

    /// Without a budget, the kernel's defaults apply.
    fn socket_buffers(&self) -> Option<SocketBuffers> {
        self.limits.memory_budget.map(|_| SOCKET_BUFFERS)
    }

    /// Returns one shard's part of the memory budget, if there is one: shards get equal numbers of connections.
    fn shares(&self, shards: usize) -> Option<Shares> {
        let resident = engine::machine::process_memory().unwrap_or_default().resident_bytes();
        let whole = Shares::of(self.limits.memory_budget?, resident);
        let part = |bytes: u64| bytes / shards.max(1) as u64;
        Some(Shares {
            connections: part(whole.connections),
            outboxes: part(whole.outboxes),
            send_queues: part(whole.send_queues),
            partial_messages: part(whole.partial_messages),
            longpoll_sessions: part(whole.longpoll_sessions),
        })
    }

    fn shared(&self, shards: usize, population: Arc<AtomicUsize>) -> Result<Shared, StartError> {
        let parts = self.shares(shards);
        let mut random = [0; 20];
        getrandom::fill(&mut random).map_err(|error| StartError::System(io::Error::other(error)))?;
        let (secret, rest) = random.split_at(8);
        let (node, salt) = rest.split_at(8);
        let whole = |bytes: &[u8]| bytes.iter().fold(0, |whole, &byte| whole << 8 | u64::from(byte));
        let node = NodeId(whole(node));
        let hub = HubConfig {
            shard: ShardIndex(0),
            shards: shards as u16,
            secret: whole(secret),
            salt: whole(salt) as u32,
            bus: self.bus.as_ref().map(|_| node),
            histories: self.histories().map_err(StartError::Pattern)?,
            limits: hub::Limits {
                presence_people_max: self.limits.presence_people_max,
                history_bytes_max: self.limits.history_bytes_max / shards.max(1),
                recovery_messages_max: self.limits.recovery_messages_max,
                recovery_bytes_max: self.limits.outbox_bytes_max / 2,
                join_interval_us: self.limits.join_interval_us(shards),
                join_wait_us_max: u64::try_from(self.limits.join_wait_max.as_micros()).unwrap_or(u64::MAX),
                ..hub::Limits::default()
            },
        };
        Ok(Shared {
            node,
            handshakes: Handshakes { mounts: self.mounts.clone() },
            admission: Arc::new(Admission::new(
                self.limits.connections_per_ip_max,
                self.limits.connection_rate_per_ip_max,
            )),
            pace: self
                .limits
                .connection_rate_max
                .map(|per_second| Pace::new(per_second, self.limits.connection_burst_max)),
            proxies: Proxies {
                trusted: self.trusted_proxies.clone(),
                announced: self.listen.iter().map(|listening| listening.announced).collect(),
            },
            metrics: std::iter::repeat_with(ShardMetrics::new).take(shards).collect(),
            limits: self.limits.clone(),
            allowance: Arc::new(Allowance::new(population)),
            partial_bytes_max: parts.map_or(usize::MAX, |parts| parts.partial_messages as usize),
            longpoll_bytes_max: parts.map_or(usize::MAX, |parts| parts.longpoll_sessions as usize),
            transits: Transits::default(),
            turns: Turns::new(shards, cores()),
            telling: Mutex::new(()),
            began: Instant::now(),
            hub,
            owner_of: self.owner_of,
        })
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
