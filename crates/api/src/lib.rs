//! The messenger's API over HTTP: REST below `/api/v1`, its OpenAPI document and reference page, and webhooks.
//!
//! One table of operations ([`operation`]) is both the routes and the document. Every request takes the same path
//! ([`serving`]): authentication, authorization, rate limits, idempotency ([`idempotency`]); then the operation reads
//! its input and runs the messenger's verbs ([`request_context`]). [`webhooks`] notifies host sites of what happened.
//!
//! It must never know SQL, sockets, or the bytes of channels' messages, nor hold a rule of the messenger: `chat`
//! decides what is permitted.

mod addresses;
mod caller;
mod counters;
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
mod reference;
mod rejection;
mod reply;
mod request_context;
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
use rates::Budgets;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use webhooks::Webhooks;
use witness::ApiWitness;

/// What the API is made of.
pub struct Parts {
    /// The messenger, which runs the verbs.
    pub messenger: Messenger,
    /// The running server.
    pub live: Arc<dyn Live>,
    /// Outbound HTTP to host sites.
    pub outbound: Outbound,
    /// The rate limit of each caller.
    pub rate: Rate,
    /// The rate limit of each address without valid credentials.
    pub rate_of_strangers: Rate,
    /// The rate limit of each address, for all its people together.
    pub rate_of_addresses: Rate,
    /// Settings of webhook delivery.
    pub deliveries: DeliverySettings,
    /// Memory limits of webhooks.
    pub webhook_limits: MemoryLimits,
    /// This server's permanent name among several over one store: webhooks that were pending when it stopped are sent
    /// when it starts again.
    pub node: String,
}

/// The default rate limit of a caller.
pub const RATE_DEFAULT: Rate = Rate { burst: 200, per_minute: 3_000 };
/// The default rate limit of an address without valid credentials.
pub const RATE_OF_STRANGERS_DEFAULT: Rate = Rate { burst: 100, per_minute: 300 };
/// The default rate limit of an address, for all its people together: four at the rate of one caller.
pub const RATE_OF_ADDRESSES_DEFAULT: Rate = Rate { burst: 1_000, per_minute: 12_000 };

/// The API. Clones share the same state.
#[derive(Clone)]
pub struct Api {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) messenger: Messenger,
    pub(crate) live: Arc<dyn Live>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) webhooks: Arc<Webhooks>,
    /// The rate limit of each caller.
    pub(crate) rate: Rate,
    pub(crate) callers: Budgets<serving::Asker>,
    /// Requests that were refused by their caller's rate limit.
    pub(crate) refused: AtomicU64,
    pub(crate) strangers: Addresses,
    /// The limits of people's requests per address.
    pub(crate) addresses: Addresses,
    pub(crate) idempotency: Arc<Idempotency>,
    /// The OpenAPI document, serialized.
    pub(crate) document: Bytes,
}

impl Api {
    /// Creates the API, without listening. It becomes the messenger's witness, to notify host sites.
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
            rate,
            callers: Budgets::default(),
            refused: AtomicU64::new(0),
            strangers: Addresses::new(rate_of_strangers, Problem::address_limited),
            addresses: Addresses::new(rate_of_addresses, Problem::address_crowded),
            idempotency,
            document: Bytes::from(Self::document().to_string()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the routes for the public address: server keys and people's tokens, with the document and the reference
    /// page.
    pub fn public(&self) -> Router {
        serving::router(self.shared.clone(), serving::Entrance::Public)
    }

    /// Returns the routes for the administration's address, which must admit only the operator.
    pub fn operators(&self) -> Router {
        serving::router(self.shared.clone(), serving::Entrance::Operators)
    }

    /// Sends webhooks until `stop`, then keeps what is pending for the next start. Meanwhile it drops idempotency
    /// entries that are too old.
    pub async fn deliver(&self, stop: impl Future<Output = ()> + Send) {
        tokio::select! {
            () = self.shared.webhooks.deliver(stop) => {}
            () = self.shared.idempotency.age() => {}
        }
    }

    /// Returns the current counters.
    pub fn counts(&self) -> ApiCounts {
        ApiCounts::of(&self.shared)
    }

    /// Returns the OpenAPI 3.1 document.
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
