//! Mounts: where sockets are served, and under which conditions.

use crate::connect::{ConnectRequest, Refusal, Socket};
use hub::{Channel, ChannelFactory, Pattern, PatternError};
use proto::handshake::OriginRule;
use proto::ws::deflate::DeflateConfig;
use proto::ws::{Decoder, Limits, Role};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

type Connect = dyn Fn(&ConnectRequest<'_>) -> Result<Socket, Refusal> + Send + Sync;
type Factory = dyn Fn() -> Box<dyn Channel> + Send + Sync;

/// A path under which sockets are served: `<path>/websocket`, and `<path>/longpoll` if long-polling is on.
#[derive(Clone)]
pub struct Mount {
    pub(crate) path: String,
    pub(crate) kind: MountKind,
    pub(crate) origins: OriginRule,
    pub(crate) lenient_origins: bool,
    pub(crate) auth_token: bool,
    pub(crate) protocols: Vec<String>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) compression: Option<DeflateConfig>,
    pub(crate) frame_bytes_max: usize,
    pub(crate) message_bytes_max: usize,
    pub(crate) channels_max: usize,
    pub(crate) sequential_joins: bool,
    pub(crate) longpoll: Option<Duration>,
    pub(crate) connect: Option<Arc<Connect>>,
    pub(crate) channels: Vec<(String, SharedFactory)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MountKind {
    /// Phoenix Channels.
    Channels,
    /// Every message is echoed unchanged: for benchmarks and test suites.
    Echo,
}

/// A channel factory that all shards share.
#[derive(Clone)]
pub(crate) struct SharedFactory(Arc<Factory>);

impl ChannelFactory for SharedFactory {
    fn make(&self, _topic: &str) -> Box<dyn Channel> {
        (self.0)()
    }
}

impl Mount {
    /// Creates a mount for Phoenix Channels. The path has one or more segments; a segment `:name` matches any value,
    /// which becomes a connect parameter.
    pub fn channels(path: &str) -> Mount {
        Mount::new(path, MountKind::Channels)
    }

    /// Creates a mount whose sockets echo every message: raw WebSocket, no Phoenix.
    pub fn echo(path: &str) -> Mount {
        Mount { longpoll: None, ..Mount::new(path, MountKind::Echo) }
    }

    fn new(path: &str, kind: MountKind) -> Mount {
        Mount {
            path: path.trim_end_matches('/').to_owned(),
            kind,
            origins: OriginRule::SameHost,
            lenient_origins: false,
            auth_token: false,
            protocols: Vec::new(),
            idle_timeout: Some(Duration::from_secs(60)),
            compression: None,
            frame_bytes_max: Limits::default().frame_bytes_max,
            message_bytes_max: Limits::default().message_bytes_max,
            channels_max: 100,
            sequential_joins: false,
            longpoll: Some(Duration::from_secs(10)),
            connect: None,
            channels: Vec::new(),
        }
    }

    /// Sets which pages may open sockets here. Default: those of the host that the request itself names.
    pub fn origins(mut self, origins: OriginRule) -> Mount {
        self.origins = origins;
        self
    }

    /// Treats an `Origin` without a scheme as a host name; the load generator Tsung sends such headers. Default: off.
    pub fn lenient_origins(mut self, lenient: bool) -> Mount {
        self.lenient_origins = lenient;
        self
    }

    /// Sets whether clients may send an auth token outside the URL. Default: off.
    pub fn auth_token(mut self, enabled: bool) -> Mount {
        self.auth_token = enabled;
        self
    }

    /// Sets the subprotocols that clients may choose besides `phoenix`. If any are set, a client that offers only
    /// others is refused.
    pub fn protocols(mut self, protocols: &[&str]) -> Mount {
        self.protocols = protocols.iter().map(|&protocol| protocol.to_owned()).collect();
        self
    }

    /// Sets how long a client may be silent before it is closed with 1001; `None` for no limit. Default: 60 seconds.
    pub fn idle_timeout(mut self, timeout: Option<Duration>) -> Mount {
        self.idle_timeout = timeout;
        self
    }

    /// Negotiates permessage-deflate with clients that offer it. Default: off.
    pub fn compression(mut self, compression: Option<DeflateConfig>) -> Mount {
        self.compression = compression;
        self
    }

    /// Sets the maximum size of a client's frames and messages, in bytes; beyond it the client is closed with 1009.
    /// Default: 10,000,000.
    pub fn frame_bytes_max(mut self, bytes: usize) -> Mount {
        self.frame_bytes_max = bytes;
        self.message_bytes_max = bytes;
        self
    }

    /// Sets how many channels one socket may join. Default: 100.
    pub fn channels_max(mut self, channels: usize) -> Mount {
        self.channels_max = channels;
        self
    }

    /// Makes everything that a client sent after a join wait for the join's decision, as Phoenix does. Default: only
    /// messages for the same topic wait.
    pub fn sequential_joins(mut self, sequential: bool) -> Mount {
        self.sequential_joins = sequential;
        self
    }

    /// Sets how long a long poll waits for messages; `None` turns long-polling off. Default: 10 seconds.
    pub fn longpoll(mut self, window: Option<Duration>) -> Mount {
        self.longpoll = window;
        self
    }

    /// Sets the callback that decides who may connect, sets the socket's id, and assigns what its channels need. It
    /// must not block.
    pub fn connect<F>(mut self, connect: F) -> Mount
    where
        F: Fn(&ConnectRequest<'_>) -> Result<Socket, Refusal> + Send + Sync + 'static,
    {
        self.connect = Some(Arc::new(connect));
        self
    }

    /// Routes topics that match `pattern` (`room:lobby` or `room:*`) to channels that `make` creates, one per join. The
    /// first pattern that matches wins.
    pub fn channel<C, F>(mut self, pattern: &str, make: F) -> Mount
    where
        C: Channel,
        F: Fn() -> C + Send + Sync + 'static,
    {
        self.channels.push((pattern.to_owned(), SharedFactory(Arc::new(move || Box::new(make())))));
        self
    }

    pub(crate) fn routes(&self) -> Result<Vec<(Pattern, SharedFactory)>, PatternError> {
        self.channels.iter().map(|(pattern, make)| Ok((Pattern::parse(pattern)?, make.clone()))).collect()
    }

    pub(crate) fn decoder(&self, deflate: bool) -> Decoder {
        let (frame_bytes_max, message_bytes_max) = (self.frame_bytes_max, self.message_bytes_max);
        let limits = Limits { frame_bytes_max, message_bytes_max, ..Limits::default() };
        Decoder { role: Role::Server, limits, deflate }
    }

    /// Matches a request's path and extracts the path's variables. A trailing slash is accepted.
    pub(crate) fn matches<'p>(&'p self, path: &'p str) -> Option<(Transport, Vec<(&'p str, &'p str)>)> {
        let path = path.strip_prefix('/')?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let (base, transport) = path.rsplit_once('/')?;
        let transport = match transport {
            "websocket" => Transport::WebSocket,
            "longpoll" => Transport::LongPoll { window: self.longpoll? },
            _ => return None,
        };
        let (mut wanted, mut found) = (self.path[1..].split('/'), base.split('/'));
        let mut variables = Vec::new();
        loop {
            match (wanted.next(), found.next()) {
                (None, None) => return Some((transport, variables)),
                (Some(wanted), Some(found)) => match wanted.strip_prefix(':') {
                    Some(name) if !found.is_empty() => variables.push((name, found)),
                    Some(_) => return None,
                    None if wanted == found => {}
                    None => return None,
                },
                _ => return None,
            }
        }
    }

    pub(crate) fn check_path(&self) -> Result<(), BadMountPath> {
        let segments_are_named =
            self.path.strip_prefix('/').is_some_and(|path| path.split('/').all(|s| !s.is_empty()));
        if segments_are_named { Ok(()) } else { Err(BadMountPath { path: self.path.clone() }) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    WebSocket,
    /// Contains the time that a poll waits for messages.
    LongPoll {
        window: Duration,
    },
}

/// A mount path that is empty, does not start with `/`, or has an empty segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMountPath {
    path: String,
}

impl fmt::Display for BadMountPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid mount path {:?}: write `/` and one or more segments, such as `/socket`", self.path)
    }
}

impl std::error::Error for BadMountPath {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_matches_its_transports_and_nothing_else() {
        let mount = Mount::channels("/ws/:tenant");
        let matched = |path| mount.matches(path).map(|(transport, _)| transport);
        assert_eq!(matched("/ws/acme/websocket"), Some(Transport::WebSocket));
        assert_eq!(matched("/ws/acme/websocket/"), Some(Transport::WebSocket));
        assert_eq!(
            matched("/ws/acme/longpoll"),
            Some(Transport::LongPoll { window: Duration::from_secs(10) })
        );
        for path in
            ["/ws/websocket", "/ws//websocket", "/ws/a/b/websocket", "/ws/acme/websocket/x", "/ws/acme", "x"]
        {
            assert_eq!(matched(path), None, "{path}");
        }
        assert_eq!(
            mount.matches("/ws/acme/websocket").map(|(_, variables)| variables),
            Some(vec![("tenant", "acme")])
        );
    }

    #[test]
    fn paths_must_have_named_segments() {
        for path in ["", "/", "socket", "//socket"] {
            assert!(Mount::channels(path).check_path().is_err(), "{path}");
        }
    }
}
