//! Acknowledgements and their latencies.

use serde_json::{Value, json};
use std::time::Duration;

pub(crate) struct Measured {
    /// From the submission of a message until it is durable.
    pub(crate) acks: Vec<Duration>,
    /// From the first message to the last acknowledgement.
    pub(crate) took: Duration,
}

impl Measured {
    pub(crate) fn to_json(&self, what: &str) -> Value {
        json!({
            "what": what,
            "messages": self.acks.len(),
            "messages_per_second": self.acks.len() as f64 / self.took.as_secs_f64(),
            "ack_ms_p50": self.percentile_ms(50),
            "ack_ms_p99": self.percentile_ms(99),
        })
    }

    fn percentile_ms(&self, percent: usize) -> f64 {
        let mut acks = self.acks.clone();
        acks.sort();
        let place = (acks.len() * percent / 100).min(acks.len().saturating_sub(1));
        acks.get(place).map_or(0.0, |ack| ack.as_secs_f64() * 1_000.0)
    }
}
