//! The messenger's API over HTTP: REST below `/api/v1`, its OpenAPI document and reference page, and webhooks.
//!
//! One table of operations ([`operation`]) is both the routes and the document. Each request goes the same way
//! ([`serving`]): who calls, may they, how often, is it done already ([`idempotency`]); then the operation reads its input
//! and asks the messenger's verbs ([`desk`]). What that means for host sites that want to be told is in [`webhooks`].
//!
//! It must never know SQL, sockets, or the bytes of channels' messages, nor hold a rule of the messenger: what may happen
//! is decided in `chat`.

mod addresses;
mod caller;
mod counters;
mod desk;
mod entropy;
mod fields;
mod idempotency;
mod input;
mod keyring;
mod live;
mod openapi;
mod operation;
mod pages;
mod problem;
mod purpose;
mod rates;
mod reference;
mod rejection;
mod reply;
mod routes;
mod serving;
mod shapes;
mod webhooks;
mod witness;

pub use addresses::Remote;
pub use counters::ApiCounts;
pub use live::{Live, ServerStats, TopicBusy};
pub use pages::PageLetIn;
pub use rates::Rate;

use addresses::Addresses;
use axum::Router;
use bytes::Bytes;
use idempotency::Idempotency;
use identity::{DeliverySettings, MemoryLimits, Outbound};
use keyring::Keyring;
use messenger::Messenger;
use problem::Problem;
use rates::Rates;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use webhooks::Webhooks;
use witness::ApiWitness;

/// What the API stands on.
pub struct Parts {
    /// The way to the verbs.
    pub messenger: Messenger,
    /// The running server.
    pub live: Arc<dyn Live>,
    /// The way to host sites.
    pub outbound: Outbound,
    /// How often each caller may ask.
    pub rate: Rate,
    /// How often an address may ask without credentials that count.
    pub rate_of_strangers: Rate,
    /// How often all people of an address together may ask.
    pub rate_of_addresses: Rate,
    /// How webhooks are sent.
    pub deliveries: DeliverySettings,
    /// What webhooks may take of memory.
    pub webhook_limits: MemoryLimits,
    /// Names this server for good, of several on one store: what it had to tell when it ended, it tells when it starts again.
    pub node: String,
}

/// How often a caller may ask, if nothing else is said.
pub const RATE_DEFAULT: Rate = Rate { burst: 200, per_minute: 3_000 };
/// How often an address may ask without credentials that count, if nothing else is said.
pub const RATE_OF_STRANGERS_DEFAULT: Rate = Rate { burst: 100, per_minute: 300 };
/// How often all people of an address together may ask, if nothing else is said: four who ask as often as each may.
pub const RATE_OF_ADDRESSES_DEFAULT: Rate = Rate { burst: 1_000, per_minute: 12_000 };

/// The API. Copies are the same one.
#[derive(Clone)]
pub struct Api {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) messenger: Messenger,
    pub(crate) live: Arc<dyn Live>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) rates: Mutex<Rates<serving::Asker>>,
    /// Requests that were refused because their caller had asked too often.
    pub(crate) refused: AtomicU64,
    pub(crate) strangers: Addresses,
    /// Of people's requests.
    pub(crate) addresses: Addresses,
    pub(crate) idempotency: Arc<Idempotency>,
    /// The OpenAPI document, as it goes out.
    pub(crate) document: Bytes,
}

impl Api {
    /// An API that answers nobody yet. It becomes the messenger's witness, to tell host sites what happens.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            messenger,
            live,
            outbound,
            rate,
            rate_of_strangers,
            rate_of_addresses,
            deliveries,
            webhook_limits,
            node,
        } = parts;
        let keyring = Arc::new(Keyring::new(messenger.downgrade()));
        let kept = (webhook_limits, node);
        let webhooks =
            Arc::new(Webhooks::new(messenger.downgrade(), keyring.clone(), outbound, deliveries, kept));
        let idempotency = Arc::new(Idempotency::new());
        messenger.witness_by(ApiWitness { webhooks: webhooks.clone(), idempotency: idempotency.clone() });
        let shared = Shared {
            messenger,
            live,
            keyring,
            webhooks,
            rates: Mutex::new(Rates::new(rate)),
            refused: AtomicU64::new(0),
            strangers: Addresses::new(rate_of_strangers, Problem::address_limited),
            addresses: Addresses::new(rate_of_addresses, Problem::address_crowded),
            idempotency,
            document: Bytes::from(Self::document().to_string()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// For the public address: server keys and people's tokens. With the document and the reference page.
    pub fn public(&self) -> Router {
        serving::router(self.shared.clone(), serving::Entrance::Public)
    }

    /// For the administration's address, behind whatever makes sure that it is the operator who asks.
    pub fn operators(&self) -> Router {
        serving::router(self.shared.clone(), serving::Entrance::Operators)
    }

    /// Sends webhooks until `stop`, and keeps for the next start what is left then. Meanwhile it forgets what is kept in
    /// memory for too long.
    pub async fn deliver(&self, stop: impl Future<Output = ()> + Send) {
        tokio::select! {
            () = self.shared.webhooks.deliver(stop) => {}
            () = self.shared.idempotency.age() => {}
        }
    }

    /// The numbers of this moment.
    pub fn counts(&self) -> ApiCounts {
        ApiCounts::of(&self.shared)
    }

    /// The OpenAPI 3.1 document.
    pub fn document() -> serde_json::Value {
        openapi::document(&routes::all())
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}
