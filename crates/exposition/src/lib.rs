//! The text formats of metrics pages, and the choice of the format that answers a scrape.
//!
//! `prometheus-client` writes [OpenMetrics 1.0], which Prometheus asks for. `curl`, `promtool check metrics` and many
//! agents do not: they read the older [Prometheus text format 0.0.4]. The two have the same samples and differ only in
//! comments, so a page is converted from one to the other line by line.
//!
//! Pure; must not know any particular metric.
//!
//! [OpenMetrics 1.0]: https://prometheus.io/docs/specs/om/open_metrics_spec/
//! [Prometheus text format 0.0.4]: https://prometheus.io/docs/instrumenting/exposition_formats/

const OPEN_METRICS: &str = "application/openmetrics-text";
const TEXT: &str = "text/plain";

/// The format of a page of metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The Prometheus text format 0.0.4.
    Text,
}

impl Format {
    /// Returns the format that the values of a request's `Accept` header (RFC 9110 section 12.5.1) prefer. A client
    /// that does not name OpenMetrics gets the text format, which everything can read.
    pub fn preferred<'a>(accept: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut open_metrics, mut text) = (0.0, 0.0);
        for range in accept.into_iter().flat_map(|value| value.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let best = match parts.next() {
                Some(kind) if kind.eq_ignore_ascii_case(OPEN_METRICS) => &mut open_metrics,
                Some(kind) if kind.eq_ignore_ascii_case(TEXT) => &mut text,
                Some(_) | None => continue,
            };
            *best = f32::max(*best, quality(parts));
        }
        if open_metrics > text { Format::OpenMetrics } else { Format::Text }
    }

    /// Returns its media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Converts a page that was written in OpenMetrics to this format.
    pub fn page(self, open_metrics: String) -> String {
        match self {
            Format::OpenMetrics => open_metrics,
            Format::Text => text(&open_metrics),
        }
    }
}

/// Parses a weight (RFC 9110 section 12.4.2): from 0 to 1, and 1 if there is none.
fn quality<'a>(mut parameters: impl Iterator<Item = &'a str>) -> f32 {
    let named =
        |parameter: &'a str| parameter.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("q"));
    let weight = parameters.find_map(|parameter| named(parameter).map(|(_, weight)| weight));
    weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0))
}

/// Converts to the text format, where a counter's comments have the name of its samples, with the suffix; infos are
/// gauges; units and the end marker do not exist.
fn text(open_metrics: &str) -> String {
    // The page grows by a suffix in both comments of each family.
    let mut page = String::with_capacity(open_metrics.len() * 5 / 4);
    let mut help = "";
    for line in open_metrics.lines() {
        let Some(comment) = line.strip_prefix('#') else {
            page.extend([line, "\n"]);
            continue;
        };
        let mut words = comment.trim_start().splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            // Kept for the TYPE line, which comes next and determines the name.
            (Some("HELP"), Some(_), words) => help = words.unwrap_or_default(),
            (Some("TYPE"), Some(name), Some(kind)) => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", kind),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    kind => ("", kind),
                };
                if !help.is_empty() {
                    page.extend(["# HELP ", name, suffix, " ", help, "\n"]);
                }
                page.extend(["# TYPE ", name, suffix, " ", kind, "\n"]);
                help = "";
            }
            _ => {}
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_prefer_openmetrics_gets_text() {
        let prometheus_2 = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                            text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let prometheus_3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
                            text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        for asks in [
            prometheus_2,
            prometheus_3,
            "Application/OpenMetrics-Text",
            "text/plain;q=0.1, application/openmetrics-text ; q=0.2",
        ] {
            assert_eq!(Format::preferred([asks]), Format::OpenMetrics, "{asks}");
        }
        for asks in [
            "",
            "*/*",
            "text/plain",
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "text/plain;version=0.0.4;q=1,application/openmetrics-text;q=0.9",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text;Q=0",
            "application/openmetrics-text;q=much",
        ] {
            assert_eq!(Format::preferred([asks]), Format::Text, "{asks}");
        }
        assert_eq!(Format::preferred([]), Format::Text);
        assert_eq!(Format::preferred(["text/html", "application/openmetrics-text"]), Format::OpenMetrics);
    }

    #[test]
    fn samples_are_the_same_in_both_formats_and_comments_bear_their_names() {
        let open_metrics = "# HELP joins Joins that were accepted.\n# TYPE joins counter\njoins_total 7\n\
            # HELP run The run.\n# TYPE run info\nrun_info{name=\"# TYPE x \\\" \\n\"} 1\n\
            # HELP latency_seconds Time.\n# TYPE latency_seconds histogram\n# UNIT latency_seconds seconds\n\
            latency_seconds_sum 1.5\nlatency_seconds_count 2\nlatency_seconds_bucket{le=\"+Inf\"} 2\n\
            # TYPE users gauge\nusers 3\n# TYPE old unknown\nold 1\n# EOF\n";
        let text = "# HELP joins_total Joins that were accepted.\n# TYPE joins_total counter\njoins_total 7\n\
            # HELP run_info The run.\n# TYPE run_info gauge\nrun_info{name=\"# TYPE x \\\" \\n\"} 1\n\
            # HELP latency_seconds Time.\n# TYPE latency_seconds histogram\n\
            latency_seconds_sum 1.5\nlatency_seconds_count 2\nlatency_seconds_bucket{le=\"+Inf\"} 2\n\
            # TYPE users gauge\nusers 3\n# TYPE old untyped\nold 1\n";
        assert_eq!(Format::Text.page(open_metrics.to_owned()), text);
        assert_eq!(Format::OpenMetrics.page(open_metrics.to_owned()), open_metrics);
    }
}
