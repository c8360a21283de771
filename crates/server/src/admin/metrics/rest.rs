//! The API's metrics.

use super::page::Page;
use api::{Api, ApiCounts};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use std::fmt;

/// Reads the API at each scrape.
#[derive(Debug)]
pub(super) struct RestCollector {
    pub(super) api: Api,
}

impl Collector for RestCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let ApiCounts { limited, idempotency_keys, idempotency_bytes, repeated_total } = self.api.counts();
        let mut page = Page::new(encoder);
        page.counters(
            "throng_api_rate_limited",
            "API requests refused because there were too many, by kind of caller.",
            "of",
            limited.into_iter(),
        )?;
        page.gauge(
            "throng_idempotency_keys",
            "Requests remembered by their idempotency key.",
            idempotency_keys,
        )?;
        page.gauge(
            "throng_idempotency_bytes",
            "Memory of the responses kept for idempotency keys.",
            idempotency_bytes,
        )?;
        page.counter(
            "throng_idempotency_repeated",
            "Requests that got the response of an earlier request with the same idempotency key.",
            repeated_total,
        )
    }
}
