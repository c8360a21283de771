//! The API's numbers, for metrics.

use crate::Shared;

/// The numbers of one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiCounts {
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
            idempotency_keys: idempotency.keys,
            idempotency_bytes: idempotency.answer_bytes,
            repeated_total: idempotency.repeated_total,
        }
    }
}
