//! Selects the figures to keep from a scraped page.

use std::error::Error;
use std::fmt;

use super::exposition::{BadLine, Sample, samples};

/// Metrics that count a server's connections, in the order in which they are tried: Throng, Centrifugo, nginx's
/// exporter.
const CONNECTIONS: [&str; 3] =
    ["throng_connections_open", "centrifugo_node_num_clients", "nginx_connections_active"];
/// Prefix that marks a figure as the server's number of connections.
const CONNECTIONS_MARK: &str = "connections=";

/// The figures to keep from each page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figures {
    connections: Vec<Selector>,
    further: Vec<Selector>,
}

/// Selects a metric, or those of its samples that have certain labels. The figure is the sum of the selected samples.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Selector {
    /// As written; also the name under which it is reported.
    text: String,
    metric: String,
    labels: Vec<(String, String)>,
}

/// An invalid figure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadFigure {
    /// As written.
    pub text: String,
}

impl fmt::Display for BadFigure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "\"{}\" is not a metric: write NAME, NAME{{label=\"value\"}}, or {CONNECTIONS_MARK}NAME for the one that \
             counts connections",
            self.text
        )
    }
}

impl Error for BadFigure {}

/// The figures found on one page; those missing are `None`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Scraped {
    pub(super) resident_bytes: Option<u64>,
    pub(super) cpu_seconds: Option<f64>,
    pub(super) descriptors: Option<u64>,
    pub(super) connections: Option<u64>,
    pub(super) figures: Vec<(String, f64)>,
}

impl Figures {
    /// Parses the list of figures: besides the usual ones of a process and its number of connections, `NAME`,
    /// `NAME{label="value"}`, or `connections=NAME` for another metric that counts connections.
    ///
    /// # Errors
    /// The first invalid text.
    pub fn parse(texts: &[String]) -> Result<Self, BadFigure> {
        let mut figures = Self { connections: Vec::new(), further: Vec::new() };
        for text in texts {
            match text.strip_prefix(CONNECTIONS_MARK) {
                Some(metric) => figures.connections.push(Selector::parse(metric)?),
                None => figures.further.push(Selector::parse(text)?),
            }
        }
        if figures.connections.is_empty() {
            figures.connections = CONNECTIONS.into_iter().map(Selector::parse).collect::<Result<_, _>>()?;
        }
        Ok(figures)
    }

    /// Extracts the selected figures from a page.
    pub(super) fn keep(&self, page: &str) -> Result<Scraped, BadLine> {
        let mut scraped = Scraped::default();
        let mut connections: Vec<Option<f64>> = vec![None; self.connections.len()];
        let mut further: Vec<Option<f64>> = vec![None; self.further.len()];
        for sample in samples(page) {
            let sample = sample?;
            match sample.name {
                "process_resident_memory_bytes" => scraped.resident_bytes = whole(sample.value),
                "process_cpu_seconds_total" => {
                    scraped.cpu_seconds = Some(sample.value).filter(|s| s.is_finite())
                }
                "process_open_fds" => scraped.descriptors = whole(sample.value),
                _ => {}
            }
            add(&self.connections, &mut connections, &sample);
            add(&self.further, &mut further, &sample);
        }
        scraped.connections = connections.into_iter().flatten().next().and_then(whole);
        let named = self.further.iter().zip(further);
        scraped.figures = named
            .filter_map(|(selector, sum)| Some((selector.text.clone(), sum.filter(|s| s.is_finite())?)))
            .collect();
        Ok(scraped)
    }
}

impl Selector {
    fn parse(text: &str) -> Result<Self, BadFigure> {
        // A selector has the syntax of a sample without its value.
        let line = format!("{} 0", text.trim());
        let bad = || BadFigure { text: text.to_owned() };
        let Some(Ok(sample)) = samples(&line).next() else { return Err(bad()) };
        let labels = sample.labels().map(|(name, value)| (name.to_owned(), value.into_owned())).collect();
        Ok(Self { text: text.trim().to_owned(), metric: sample.name.to_owned(), labels })
    }

    fn selects(&self, sample: &Sample<'_>) -> bool {
        let has = |(name, value): &(String, String)| {
            sample.labels().any(|label| label.0 == name && label.1 == *value)
        };
        self.metric == sample.name && self.labels.iter().all(has)
    }
}

fn add(selectors: &[Selector], sums: &mut [Option<f64>], sample: &Sample<'_>) {
    for (selector, sum) in selectors.iter().zip(sums) {
        if selector.selects(sample) {
            *sum = Some(sum.unwrap_or_default() + sample.value);
        }
    }
}

/// Converts a count or a size; `None` if the value is negative, infinite or NaN.
fn whole(value: f64) -> Option<u64> {
    (value.is_finite() && value >= 0.0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "process_resident_memory_bytes 1048576\nprocess_cpu_seconds_total 1.5\nprocess_open_fds 12\n\
                        throng_connections_open 1000\nthrong_closed{reason=\"idle\"} 3\nthrong_closed{reason=\"slow\"} 4\n\
                        sessions{node=\"a\"} 20\nsessions{node=\"b\"} 30\nodd NaN\n";

    fn keep(texts: &[&str]) -> Scraped {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Figures::parse(&texts).expect("figures").keep(PAGE).expect("a page")
    }

    #[test]
    fn the_usual_figures_are_kept_unasked() {
        let expected = Scraped {
            resident_bytes: Some(1_048_576),
            cpu_seconds: Some(1.5),
            descriptors: Some(12),
            connections: Some(1000),
            figures: vec![],
        };
        assert_eq!(keep(&[]), expected);
    }

    #[test]
    fn further_figures_are_summed_over_what_they_select() {
        let figures = keep(&["throng_closed", "throng_closed{reason=\"slow\"}", "absent", "odd"]).figures;
        let expected =
            [("throng_closed".to_owned(), 7.0), ("throng_closed{reason=\"slow\"}".to_owned(), 4.0)];
        assert_eq!(figures, expected);
    }

    #[test]
    fn another_metric_may_count_the_connections() {
        assert_eq!(keep(&["connections=sessions"]).connections, Some(50));
        assert_eq!(keep(&["connections=absent"]).connections, None);
        assert_eq!(keep(&["connections=odd"]).connections, None);
    }

    #[test]
    fn what_is_no_metric_is_refused_by_name() {
        for text in ["", "1up", "a b", "a{b}", "connections=", "# HELP"] {
            let error = Figures::parse(&[text.to_owned()]).expect_err(text);
            assert!(error.to_string().contains("is not a metric"), "{error}");
        }
    }
}
