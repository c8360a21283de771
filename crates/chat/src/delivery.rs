//! Webhook deliveries: kept until they succeed or are given up.

use crate::ids::{ConversationId, DeliveryId, KeyId, PersonId};
use crate::moment::Moment;

/// A webhook event queued for an endpoint. Exports do not include it: it is already on its way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The receiving endpoint: the id of the key under which it is stored.
    pub endpoint: KeyId,
    /// Its id; deliveries to one endpoint happen in id order.
    pub id: DeliveryId,
    /// The person it is about, so that it can be erased with them.
    pub person: PersonId,
    /// The conversation it is about, so that it can be erased with it; `None` if it is about none, or only says that one
    /// was erased.
    pub conversation: Option<ConversationId>,
    /// The server that is responsible for it, where several share one store.
    pub holder: String,
    /// JSON body.
    pub body: String,
    /// When it was first queued.
    pub queued: Moment,
    /// Number of failed attempts.
    pub attempts: u32,
    /// When and why it was given up; `None` while it waits.
    pub given_up: Option<GivenUp>,
}

/// Records that a delivery was given up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenUp {
    /// When it was given up.
    pub at: Moment,
    /// The reason, human-readable.
    pub why: String,
}
