//! Creates the running gateway from the configuration: mounts, limits, listeners, pages.

use crate::capacity::Capacity;
use crate::config::{BusConfig, Config, HistoryConfig, ProxyProtocol, SocketConfig};
use crate::health::{self, Readiness};
use crate::lobby::{self, Room};
use crate::page;
use axum::Router;
use bus::Bus;
use gateway::{
    BusPort, ConnectRequest, DeflateConfig, Gateway, Limits, Mount, NodeAddress, Pattern, Refusal, Running,
    Socket, StartError, machine,
};
use messenger::Messenger;
use rustls::ServerConfig;
use std::sync::Arc;
use std::time::Duration;

/// How long a long poll waits for messages.
const LONGPOLL_WINDOW: Duration = Duration::from_secs(10);
/// The connect parameter with which a client sets its socket's id, by which it can then be disconnected.
const ID_PARAMETER: &str = "id";
/// The connect parameter with which a load balancer keeps a room on one server; nothing here depends on it.
const ROOM_PARAMETER: &str = "room";
const ID_BYTES_MAX: usize = 255;

/// Starts the gateway that the configuration describes, with this memory budget in bytes; from then on it accepts
/// connections.
pub(crate) fn start(
    config: &Config,
    tls: Option<Arc<ServerConfig>>,
    readiness: &Readiness,
    bus: Option<Bus>,
    messenger: &Messenger,
    rest: Router,
    budget: Option<u64>,
) -> Result<Running, StartError> {
    let capacity = Capacity::of(config, machine::descriptor_limit());
    let mut builder = Gateway::builder()
        .trusted_proxies(config.trusted_proxies.iter().copied())
        .shards(capacity.shards)
        .tables(capacity.tables)
        .limits(limits(config, budget))
        .share_fan_out(messenger::community_of)
        .mount(channels(&config.socket.path, &config.socket, messenger))
        .http(health::router(readiness.clone()).merge(rest).merge(page::router()));
    builder = match config.proxy_protocol {
        ProxyProtocol::Off => builder.listen(config.listen),
        ProxyProtocol::V2 => builder.listen_proxied(config.listen),
    };
    if let (Some(listener), Some(tls)) = (&config.tls, tls) {
        builder = match listener.proxy_protocol {
            ProxyProtocol::Off => builder.listen_tls(listener.listen, tls),
            ProxyProtocol::V2 => builder.listen_tls_proxied(listener.listen, tls),
        };
    }
    for (pattern, retention) in &config.history.topics {
        builder = builder.history(pattern, *retention);
    }
    if let Some(address) = config.bus.as_ref().and_then(|bus| bus.listen) {
        builder = builder.listen_for_nodes(address);
    }
    if let Some(bus) = bus {
        let messenger = messenger.clone();
        builder = builder.bus(|port| bus.run(connected(port))).hear_nodes(move |said| messenger.hear(said));
    }
    if let Some(path) = &config.echo_path {
        builder = builder.mount(echo(path, &config.socket));
    }
    // Last, so that it does not match paths of the other mounts.
    if config.socket.room_in_path {
        let path = format!("{}/:{ROOM_PARAMETER}", config.socket.path);
        builder = builder.mount(channels(&path, &config.socket, messenger));
    }
    builder.start()
}

/// Creates the bus that the configuration describes; it runs with the gateway.
pub(crate) fn bus(config: &BusConfig, history: &HistoryConfig) -> Result<Bus, bus::BadSettings> {
    let rules = history.topics.iter();
    let histories =
        rules.filter_map(|(pattern, retention)| Some((Pattern::parse(pattern).ok()?, *retention)));
    Bus::new(bus::Settings {
        instances: config.instances.clone(),
        prefix: config.prefix.clone(),
        certificate_authority: config.certificate_authority.clone(),
        histories: histories.collect(),
        announced: config.announce,
        times: bus::Times::default(),
    })
}

/// Converts the gateway's end of the bus to the bus's type.
fn connected(port: BusPort) -> bus::Port {
    let BusPort { node, began, listening, requests, events } = port;
    let nodes = events.clone();
    bus::Port {
        node,
        began,
        listening: listening.map(|NodeAddress { address, secret }| bus::NodeAddress { address, secret }),
        requests,
        tell: Arc::new(move |shard, event| events.tell(shard, event)),
        tell_peers: Arc::new(move |peers| {
            let theirs = |bus::NodeAddress { address, secret }| NodeAddress { address, secret };
            nodes.peers(peers.into_iter().map(|(node, listening)| (node, theirs(listening))).collect());
        }),
    }
}

fn channels(path: &str, socket: &SocketConfig, messenger: &Messenger) -> Mount {
    let people = messenger.clone();
    let mount = with_conditions(Mount::channels(path), socket)
        .auth_token(socket.auth_token)
        .channels_max(socket.channels_max)
        .longpoll(socket.longpoll.then_some(LONGPOLL_WINDOW))
        .connect(move |request| match people.socket(request)? {
            Some(socket) => Ok(socket),
            None => name_socket(request),
        })
        .channel(lobby::PATTERN, Room::default);
    messenger.channels(mount)
}

fn echo(path: &str, socket: &SocketConfig) -> Mount {
    with_conditions(Mount::echo(path), socket)
}

fn with_conditions(mount: Mount, socket: &SocketConfig) -> Mount {
    mount
        .origins(socket.origins.clone())
        .lenient_origins(socket.lenient_origin)
        .idle_timeout(socket.idle_timeout)
        .compression(socket.compression.then(DeflateConfig::default))
        .frame_bytes_max(socket.frame_bytes)
}

fn name_socket(request: &ConnectRequest<'_>) -> Result<Socket, Refusal> {
    match request.param(ID_PARAMETER) {
        None | Some("") => Ok(Socket::new()),
        // The messenger's socket ids begin with `~`: clients must not be able to get themselves closed under them.
        Some(id) if id.starts_with('~') => {
            Err(Refusal::with(400, "the parameter `id` must not begin with ~"))
        }
        Some(id) if id.len() <= ID_BYTES_MAX => Ok(Socket::new().id(id)),
        Some(_) => Err(Refusal::with(400, "the parameter `id` is too long")),
    }
}

fn limits(config: &Config, memory_budget: Option<u64>) -> Limits {
    let Config { limits, history, .. } = config;
    Limits {
        outbox_bytes_max: limits.outbox_bytes,
        mailbox_len_max: limits.mailbox_messages,
        connections_max: limits.connections.unwrap_or(usize::MAX),
        memory_budget,
        http_connections_max: limits.http_connections,
        longpoll_sessions_max: limits.longpoll_sessions,
        connections_per_ip_max: limits.connections_per_ip,
        connection_rate_per_ip_max: limits.connections_per_second_per_ip,
        connection_rate_max: limits.connections_per_second,
        connection_burst_max: limits.connections_burst,
        tls_refusals_per_second_max: limits.tls_refusals_per_second,
        join_rate_max: limits.joins_per_second,
        join_wait_max: limits.join_wait,
        handshake_time_max: limits.handshake_timeout,
        header_bytes_max: limits.header_bytes,
        presence_people_max: limits.presence_people,
        history_bytes_max: history.memory,
        recovery_messages_max: history.recovery_messages,
        ..Limits::default()
    }
}
