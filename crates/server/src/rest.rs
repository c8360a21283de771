//! The messenger's API in this server, connected to the gateway for live data.

use crate::config::SocketConfig;
use crate::retention;
use api::{
    Api, Live, PageLetIn, Parts, RATE_DEFAULT, RATE_OF_ADDRESSES_DEFAULT, RATE_OF_STRANGERS_DEFAULT, Remote,
    ServerStats, TopicBusy,
};
use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::{Router, middleware};
use gateway::{BroadcastError, Handle, OriginRule, Outgoing, RemotePeer, RequestAddress};
use identity::{AddressPolicy, DeliverySettings, MemoryLimits, Network, Outbound, system_trust};
use messenger::Messenger;
use serde_json::value::RawValue;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long shutdown waits for webhook deliveries in progress: longer than one may take.
const END_MAX: Duration = Duration::from_secs(12);

/// Why the API could not be set up.
#[derive(Debug)]
pub(crate) enum RestError {
    /// There are no trusted certificates for connections to host sites.
    Trust(String),
    /// The thread for webhooks and retention could not be started.
    Thread(io::Error),
}

impl fmt::Display for RestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestError::Trust(error) => write!(f, "{error}: install the system's ca-certificates"),
            RestError::Thread(error) => write!(f, "cannot start the background thread: {error}"),
        }
    }
}

impl std::error::Error for RestError {}

/// Creates the client for host sites: at public addresses, and in these networks.
pub(crate) fn outbound(networks: &[Network]) -> Result<Outbound, RestError> {
    let policy = AddressPolicy::public_and(networks.to_vec());
    Ok(Outbound::new(system_trust().map_err(RestError::Trust)?, policy))
}

/// The API, which works as soon as its routes are served.
pub(crate) struct Rest {
    api: Api,
    messenger: Messenger,
    channels: Arc<Channels>,
}

impl Rest {
    /// Creates the API for this messenger, on the server with this name.
    pub(crate) fn new(messenger: Messenger, outbound: Outbound, node: String) -> Rest {
        let channels = Arc::new(Channels { handle: OnceLock::new(), started: Instant::now() });
        let api = Api::new(Parts {
            messenger: messenger.clone(),
            live: channels.clone(),
            outbound,
            rate: RATE_DEFAULT,
            rate_of_strangers: RATE_OF_STRANGERS_DEFAULT,
            rate_of_addresses: RATE_OF_ADDRESSES_DEFAULT,
            deliveries: DeliverySettings::default(),
            webhook_limits: MemoryLimits::default(),
            node,
        });
        Rest { api, messenger, channels }
    }

    /// Returns the routes for the public listeners, with the same origin rule for pages as `socket`.
    pub(crate) fn public(&self, socket: &SocketConfig) -> Router {
        let (rule, lenient) = (socket.origins.clone(), socket.lenient_origin);
        let name = move |request| std::future::ready(name_remote(request, &rule, lenient));
        self.api.public().layer(middleware::map_request(name))
    }

    /// Returns the API for the administration listener.
    pub(crate) fn api(&self) -> Api {
        self.api.clone()
    }

    /// Connects the running gateway, and starts background work on a thread of its own: webhooks, since a slow host
    /// site must not slow down anybody's connection, and retention.
    pub(crate) fn begin(&self, handle: Handle) -> Result<Background, RestError> {
        // This is called once; a second handle would belong to the same gateway.
        let _ = self.channels.handle.set(handle);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RestError::Thread)?;
        let (api, messenger) = (self.api.clone(), self.messenger.clone());
        let ((stop, stopped), (ended, has_ended)) = (oneshot::channel(), mpsc::sync_channel(1));
        let work = move || {
            runtime.block_on(async {
                tokio::select! {
                    // The receiver completes when the sender is dropped.
                    () = api.deliver(async { drop(stopped.await) }) => {}
                    () = retention::apply(messenger) => {}
                }
            });
            // Fails if nobody waits any more.
            let _ = ended.send(());
        };
        thread::Builder::new().name("background".into()).spawn(work).map_err(RestError::Thread)?;
        Ok(Background { stop, has_ended })
    }
}

/// The background work.
pub(crate) struct Background {
    stop: oneshot::Sender<()>,
    has_ended: mpsc::Receiver<()>,
}

impl Background {
    /// Stops it: webhook deliveries in progress complete, and their results are stored.
    pub(crate) fn end(self) {
        drop(self.stop);
        if self.has_ended.recv_timeout(END_MAX).is_err() {
            tracing::warn!("webhooks in progress may be sent again after the next start");
        }
    }
}

/// Adds the client's address and whether its page may use the API, as extensions that the API understands.
fn name_remote(mut request: Request, rule: &OriginRule, lenient: bool) -> Request {
    let peer = request.extensions().get::<RemotePeer>().copied();
    let text = |name| request.headers().get(name).map(|value| value.to_str().unwrap_or_default());
    let address = RequestAddress {
        secure: peer.is_some_and(|peer| peer.secure),
        // HTTP/2 has it in the URI.
        host: text(HOST).or_else(|| Some(request.uri().authority()?.as_str())).unwrap_or_default(),
    };
    let page = PageLetIn(rule.allows(text(ORIGIN), &address, lenient));
    let extensions = request.extensions_mut();
    extensions.insert(page);
    if let Some(peer) = peer {
        extensions.insert(Remote(peer.address.ip()));
    }
    request
}

/// The gateway, once it runs.
struct Channels {
    handle: OnceLock<Handle>,
    started: Instant,
}

impl Live for Channels {
    fn publish(&self, topic: &str, event: &str, payload: &RawValue) -> Result<(), TopicBusy> {
        let handle = self.handle.get().ok_or(TopicBusy)?;
        match handle.broadcast(topic, event, Outgoing::json(payload.get())) {
            Ok(()) => Ok(()),
            Err(BroadcastError::Full) => Err(TopicBusy),
            // The API accepts only objects.
            Err(error) => {
                tracing::error!(%error, "a publication was rejected");
                Err(TopicBusy)
            }
        }
    }

    fn stats(&self) -> ServerStats {
        let Some(handle) = self.handle.get() else {
            return ServerStats::default();
        };
        let snapshot = handle.metrics();
        ServerStats {
            version: env!("CARGO_PKG_VERSION"),
            uptime_s: self.started.elapsed().as_secs(),
            connections: snapshot.connections_open,
            joins: snapshot.joined,
            memory_bytes: handle.memory().resident_bytes,
        }
    }
}
