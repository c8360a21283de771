//! What a community's own site is to be told, until it was.

use crate::ids::{DeliveryId, KeyId, PersonId};
use crate::moment::Moment;

/// Something that an endpoint is to be told. It is no part of an export: it is on its way out already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Whom it is for: the key that the endpoint is kept as.
    pub endpoint: KeyId,
    /// Which; those of an endpoint are told in the order of their ids.
    pub id: DeliveryId,
    /// Of whom it tells, so that it can be forgotten with them.
    pub person: PersonId,
    /// The server that delivers it, of several on one store.
    pub holder: String,
    /// JSON.
    pub body: String,
    /// When it was to be told first.
    pub queued: Moment,
    /// Attempts that failed.
    pub attempts: u32,
    /// When and why it was given up; none: it waits.
    pub given_up: Option<GivenUp>,
}

/// That a delivery was given up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenUp {
    /// When.
    pub at: Moment,
    /// Why, in words for people.
    pub why: String,
}
