//! Builds the page, metric by metric. The encoder appends `_total` to the names of counters.

use gateway::Histogram;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeExemplarValue, EncodeGaugeValue, MetricEncoder,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use std::fmt;

pub(super) struct Page<'a> {
    encoder: DescriptorEncoder<'a>,
}

impl<'a> Page<'a> {
    pub(super) fn new(encoder: DescriptorEncoder<'a>) -> Page<'a> {
        Page { encoder }
    }

    pub(super) fn gauge<V: EncodeGaugeValue>(&mut self, name: &str, help: &str, value: V) -> fmt::Result {
        self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
    }

    pub(super) fn counter<V: Number>(&mut self, name: &str, help: &str, value: V) -> fmt::Result {
        encode_counter(&mut self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?, value)
    }

    pub(super) fn gauges<L: AsRef<str>>(
        &mut self,
        name: &str,
        help: &str,
        label: &'static str,
        values: impl Iterator<Item = (L, u64)>,
    ) -> fmt::Result {
        let mut family = self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (of, value) in values {
            family.encode_family(&[(label, of.as_ref())])?.encode_gauge(&value)?;
        }
        Ok(())
    }

    pub(super) fn counters<L: AsRef<str>, V: Number>(
        &mut self,
        name: &str,
        help: &str,
        label: &'static str,
        values: impl Iterator<Item = (L, V)>,
    ) -> fmt::Result {
        let mut family = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (of, value) in values {
            encode_counter(&mut family.encode_family(&[(label, of.as_ref())])?, value)?;
        }
        Ok(())
    }

    pub(super) fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) -> fmt::Result {
        let within: u64 = histogram.counts.iter().sum();
        let bounded = histogram.bounds.iter().copied().zip(histogram.counts.iter().copied());
        let buckets: Vec<(f64, u64)> =
            bounded.chain([(f64::INFINITY, histogram.count.saturating_sub(within))]).collect();
        self.encoder
            .encode_descriptor(name, help, None, MetricType::Histogram)?
            .encode_histogram::<[(&str, &str); 0]>(histogram.sum, histogram.count, &buckets, None)
    }
}

/// The value type of a counter: a count, or seconds.
pub(super) trait Number: EncodeCounterValue + EncodeExemplarValue {}
impl Number for u64 {}
impl Number for f64 {}

fn encode_counter<V: Number>(encoder: &mut MetricEncoder<'_>, value: V) -> fmt::Result {
    encoder.encode_counter::<[(&str, &str); 0], V, V>(&value, None::<&Exemplar<_, _>>)
}
