//! The run's metrics for Prometheus, as text or OpenMetrics. A scrape only reads the published status.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use exposition::Format;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Registry;

use crate::live::{Board, Buckets, LATENCY_BOUNDS_US, Status};

/// Handles `/metrics`.
pub(super) async fn scrape(State(board): State<Arc<Board>>, headers: HeaderMap) -> Response {
    let format = Format::preferred(headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()));
    match page(board.status()) {
        Ok(page) => {
            let headers = [(CONTENT_TYPE, format.content_type()), (VARY, ACCEPT.as_str())];
            (headers, format.page(page)).into_response()
        }
        Err(fmt::Error) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn page(status: Arc<Status>) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(StatusCollector(status)));
    let mut page = String::new();
    text::encode(&mut page, &registry)?;
    Ok(page)
}

#[derive(Debug)]
struct StatusCollector(Arc<Status>);

impl Collector for StatusCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page { encoder };
        run(&mut page, &self.0)?;
        crowd(&mut page, &self.0)?;
        messages(&mut page, &self.0)?;
        times(&mut page, &self.0)?;
        errors(&mut page, &self.0)?;
        generator(&mut page, &self.0)
    }
}

fn run(page: &mut Page<'_>, status: &Status) -> fmt::Result {
    let (seed, phase) = (status.seed.to_string(), status.phase.as_ref().map_or("", |phase| &phase.name));
    page.info(
        "stampede_run",
        "The run.",
        &[
            ("version", env!("CARGO_PKG_VERSION")),
            ("scenario", &status.scenario),
            ("target", &status.target),
            ("seed", &seed),
            ("stage", status.stage.name()),
            ("phase", phase),
        ],
    )?;
    page.gauge("stampede_run_elapsed_seconds", "Time since the first phase began.", status.elapsed_seconds)?;
    if let Some(progress) = status.progress {
        page.gauge("stampede_run_progress_ratio", "Share of the plan that is done.", progress)?;
    }
    let valid = f64::from(u8::from(status.verdict.valid));
    page.gauge(
        "stampede_run_valid",
        "1 while the figures are to be believed, 0 when they are INVALID.",
        valid,
    )
}

fn crowd(page: &mut Page<'_>, status: &Status) -> fmt::Result {
    let users = &status.users;
    page.gauge("stampede_users_wanted", "Users that the scenario wants.", users.wanted as f64)?;
    page.gauge("stampede_users", "Users that have arrived and not finished.", users.active as f64)?;
    page.gauge("stampede_connected", "Open WebSockets.", users.connected as f64)?;
    page.gauge("stampede_joined", "Joins in force.", users.joined as f64)?;
    let totals = &status.totals;
    page.counter("stampede_users_arrived", "Users that arrived.", totals.users)?;
    page.counter("stampede_users_finished", "Users that finished as they should.", totals.users_finished)?;
    page.counter("stampede_users_failed", "Users that ended otherwise.", totals.users_failed)?;
    page.counter("stampede_users_dropped", "Users that were not started.", totals.users_dropped)?;
    page.counter("stampede_connects", "WebSockets opened.", totals.connects)?;
    page.counter("stampede_joins", "Joins that were answered with success.", totals.joins)
}

fn messages(page: &mut Page<'_>, status: &Status) -> fmt::Result {
    let totals = &status.totals;
    page.counter("stampede_messages_sent", "Messages sent.", totals.sent)?;
    page.counter("stampede_messages_received", "Messages received.", totals.received)?;
    page.counter(
        "stampede_messages_expected",
        "Deliveries that the messages sent lead to.",
        totals.expected,
    )?;
    page.counter("stampede_messages_delivered", "Expected deliveries that came in time.", totals.delivered)?;
    page.counter("stampede_messages_lost", "Expected deliveries that never came.", totals.lost)?;
    page.counter("stampede_messages_late", "Expected deliveries that came after the end.", totals.late)?;
    page.counter("stampede_messages_duplicated", "Deliveries that came again.", totals.duplicates)?;
    let help = "Deliveries that a later message of the same sender overtook.";
    page.counter("stampede_messages_reordered", help, totals.reordered)?;
    page.counter("stampede_sent_bytes", "Payload bytes sent.", totals.bytes_sent)?;
    page.counter("stampede_received_bytes", "Payload bytes received.", totals.bytes_received)?;
    page.counter("stampede_http_requests", "HTTP requests answered as expected.", totals.http)?;
    page.counter("stampede_http_requests_failed", "HTTP requests that were not.", totals.http_failed)
}

fn times(page: &mut Page<'_>, status: &Status) -> fmt::Result {
    let help = "Message latency, from the intended send time.";
    page.histogram("stampede_latency_seconds", help, &status.latency)?;
    page.histogram("stampede_connect_seconds", "Time to open a WebSocket.", &status.connect)?;
    let help = "The generator's own delay of sends.";
    page.histogram("stampede_send_lag_seconds", help, &status.send_lag)
}

/// One series for each kind and outcome, without codes: servers choose codes, which would make the number of series
/// unbounded.
fn errors(page: &mut Page<'_>, status: &Status) -> fmt::Result {
    let mut by_label = BTreeMap::<[(&'static str, &str); 2], u64>::new();
    for error in &status.errors {
        *by_label.entry([("kind", &error.kind), ("outcome", &error.outcome)]).or_default() += error.count;
    }
    page.counters("stampede_errors", "Errors, by what was tried and how it went wrong.", &by_label)
}

fn generator(page: &mut Page<'_>, status: &Status) -> fmt::Result {
    let row = &status.latest;
    let help = "Processor cores that the generator keeps busy, over the last second.";
    page.gauge("stampede_generator_cpu_cores", help, row.generator_cpu)?;
    let help = "Share of a core that the busiest thread of the generator uses, over the last second.";
    page.gauge("stampede_generator_thread_cpu_max_ratio", help, row.generator_thread_cpu_max)?;
    let help = "Share of the machine's processor time that the hypervisor gives to others.";
    page.gauge("stampede_steal_ratio", help, row.steal)
}

/// The page under construction, metric by metric. The encoder appends `_total` to the names of counters and `_info` to
/// those of infos.
struct Page<'a> {
    encoder: DescriptorEncoder<'a>,
}

impl Page<'_> {
    fn info(&mut self, name: &str, help: &str, labels: &[(&str, &str)]) -> fmt::Result {
        self.encoder.encode_descriptor(name, help, None, MetricType::Info)?.encode_info(&labels)
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        encode_counter(&mut self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?, value)
    }

    fn counters<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: &BTreeMap<[(&'static str, &str); N], u64>,
    ) -> fmt::Result {
        let mut family = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in values {
            encode_counter(&mut family.encode_family(labels)?, *value)?;
        }
        Ok(())
    }

    fn histogram(&mut self, name: &str, help: &str, buckets: &Buckets) -> fmt::Result {
        let bounds = LATENCY_BOUNDS_US.iter().map(|bound| *bound as f64 / 1e6).chain([f64::INFINITY]);
        let bounded: Vec<(f64, u64)> = bounds.zip(buckets.counts).collect();
        self.encoder
            .encode_descriptor(name, help, None, MetricType::Histogram)?
            .encode_histogram::<[(&str, &str); 0]>(buckets.sum_seconds, buckets.count(), &bounded, None)
    }
}

fn encode_counter(encoder: &mut MetricEncoder<'_>, value: u64) -> fmt::Result {
    encoder.encode_counter::<[(&str, &str); 0], u64, u64>(&value, None::<&Exemplar<_, _>>)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Users;
    use crate::statistics::{Counts, ErrorCount};

    fn error(outcome: &str, code: u16, count: u64) -> ErrorCount {
        ErrorCount { kind: "connect".into(), outcome: outcome.into(), code, count, ..ErrorCount::default() }
    }

    #[test]
    fn a_scrape_shows_what_was_published() {
        let mut latency = Buckets::default();
        latency.counts[2] = 3;
        latency.counts[LATENCY_BOUNDS_US.len()] = 1;
        latency.sum_seconds = 12.5;
        let status = Status {
            users: Users { wanted: 10, active: 9, connected: 8, joined: 7 },
            totals: Counts { sent: 120, received: 960, ..Counts::default() },
            errors: vec![error("status", 503, 4), error("refused", 0, 3), error("status", 429, 1)],
            latency,
            ..Status::starting("ro\"oms", "ws://127.0.0.1:4000", 7)
        };
        let page = page(Arc::new(status)).expect("a page");
        for line in [
            "# TYPE stampede_messages_sent counter",
            "stampede_messages_sent_total 120",
            "stampede_messages_received_total 960",
            "stampede_users 9.0",
            "stampede_connected 8.0",
            "stampede_run_valid 1.0",
            "stampede_errors_total{kind=\"connect\",outcome=\"refused\"} 3",
            "stampede_errors_total{kind=\"connect\",outcome=\"status\"} 5",
            "stampede_latency_seconds_bucket{le=\"0.0005\"} 3",
            "stampede_latency_seconds_bucket{le=\"+Inf\"} 4",
            "stampede_latency_seconds_sum 12.5",
            "stampede_latency_seconds_count 4",
        ] {
            assert!(page.lines().any(|written| written == line), "no line {line:?} in\n{page}");
        }
        assert!(page.contains("stampede_run_info{version="), "{page}");
        assert!(page.contains("scenario=\"ro\\\"oms\""), "{page}");
        assert!(page.ends_with("# EOF\n"), "{page}");
    }
}
