//! The API's numbers, for metrics.

use crate::Shared;
use std::sync::atomic::Ordering;

/// The numbers of one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiCounts {
    /// Requests that were refused because there were too many, by whose: of a caller, of an address without credentials that
    /// count, of all people at an address.
    pub limited: [(&'static str, u64); 3],
    /// Requests that are known under their idempotency key.
    pub idempotency_keys: u64,
    /// Bytes of the answers that are kept for them.
    pub idempotency_bytes: u64,
    /// Requests that were answered as the first time.
    pub repeated_total: u64,
}

impl ApiCounts {
    pub(crate) fn of(shared: &Shared) -> Self {
        let idempotency = shared.idempotency.counts();
        Self {
            limited: [
                ("caller", shared.refused.load(Ordering::Relaxed)),
                ("strangers", shared.strangers.refused()),
                ("address", shared.addresses.refused()),
            ],
            idempotency_keys: idempotency.keys,
            idempotency_bytes: idempotency.answer_bytes,
            repeated_total: idempotency.repeated_total,
        }
    }
}
