//! The API's counters, for metrics.

use crate::Shared;
use std::sync::atomic::Ordering;

/// The counters at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiCounts {
    /// Requests that were refused by a rate limit: per caller, per address without valid credentials, and per address
    /// for all people together.
    pub limited: [(&'static str, u64); 3],
    /// Requests that are remembered by their idempotency key.
    pub idempotency_keys: u64,
    /// Bytes of the answers kept for them.
    pub idempotency_bytes: u64,
    /// Repeated requests that got the first answer again.
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
