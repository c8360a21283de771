//! The sections of a run's report.

use std::fmt::Write as _;

use super::super::chart::{Size, Unit, grouped, plain_number};
use super::super::plots::memory_fits;
use super::super::text::{errors, times};
use super::super::{Plot, Run, tsung, wsdemo};
use super::page::Page;
use super::{escape, title};
use crate::statistics::{MachineFacts, Severity};

/// How many doctor's warnings, reasons and the like a page lists; a machine has a dozen.
const LISTED: usize = 200;

/// What was played, when and how long.
pub(super) fn facts(run: &Run) -> String {
    let summary = &run.summary;
    let scenario =
        if title(run) == summary.scenario { String::new() } else { format!("{} · ", summary.scenario) };
    format!(
        "{scenario}started {} · {} long · seed {} · ended by: {}",
        summary.started,
        Unit::Clock.format(summary.seconds),
        summary.seed,
        summary.ended_by
    )
}

pub(super) fn verdict(page: &mut Page, run: &Run) {
    let verdict = &run.summary.verdict;
    let (class, word, says) = match verdict.valid {
        true => {
            ("verdict", "VALID", "The generator kept up and the counts add up: the figures are the server's.")
        }
        false => ("verdict invalid", "INVALID", "The figures must not be taken for the server's:"),
    };
    page.push(&format!(
        "<section class=\"{class}\" id=\"verdict\">\n<span class=\"badge\">{word}</span><p class=\"says\">{says}</p>\n"
    ));
    page.push(&list("", verdict.reasons.iter().map(|reason| format!("<li>{}</li>", escape(reason)))));
    let thresholds = run.summary.thresholds.iter().map(|threshold| {
        let (class, word) = if threshold.passed { ("passed", "holds") } else { ("failed", "failed") };
        let measured = threshold
            .measured
            .map_or("nothing was measured".to_owned(), |value| format!("measured: {}", plain_number(value)));
        format!(
            "<li class=\"{class}\"><b>{word}</b> <code>{}</code> — {}</li>",
            escape(&threshold.text),
            escape(&measured)
        )
    });
    page.push(&list("thresholds", thresholds));
    page.push("</section>\n");
}

pub(super) fn findings(page: &mut Page, run: &Run) {
    page.section("findings", "Findings", |page| {
        if run.summary.findings.is_empty() {
            page.push("<p class=\"nothing\">Nothing stands out.</p>\n");
        }
        page.push(&list(
            "findings",
            run.summary.findings.iter().map(|finding| {
                let (class, word) = match finding.severity {
                    Severity::Error => ("error", "Error"),
                    Severity::Warning => ("warning", "Warning"),
                    Severity::Info => ("info", "Note"),
                };
                format!("<li class=\"{class}\"><b>{word}</b> {}</li>", escape(&finding.text))
            }),
        ));
    });
}

pub(super) fn key_figures(page: &mut Page, run: &Run) {
    page.section("figures", "Key figures", |page| {
        let tiles: String = tiles(run).iter().map(Tile::html).collect();
        page.push(&format!("<div class=\"tiles\">\n{tiles}</div>\n"));
        page.push(&times(run).html());
        page.push(&deliveries(run));
    });
}

struct Tile {
    figure: String,
    name: &'static str,
    detail: String,
}

impl Tile {
    fn html(&self) -> String {
        format!(
            "<div class=\"tile\"><span>{}</span><b>{}</b><small>{}</small></div>\n",
            self.name,
            escape(&self.figure),
            escape(&self.detail)
        )
    }
}

fn tiles(run: &Run) -> Vec<Tile> {
    let (counts, times) = (&run.summary.counts, &run.summary.times);
    let mut tiles = vec![Tile {
        figure: grouped(counts.connected_max),
        name: "connected at most",
        detail: format!("{} users wanted", grouped(counts.users_wanted)),
    }];
    if times.latency.count > 0 {
        let time = |us: u64| Unit::Microseconds.format(us as f64);
        tiles.push(Tile {
            figure: time(times.latency.p99_us),
            name: "latency, p99",
            detail: format!("median {}, longest {}", time(times.latency.p50_us), time(times.latency.max_us)),
        });
    }
    if times.http.count > 0 {
        let time = |us: u64| Unit::Microseconds.format(us as f64);
        tiles.push(Tile {
            figure: time(times.http.p99_us),
            name: "HTTP request, p99",
            detail: format!("{} answered, {} failed", grouped(counts.http), grouped(counts.http_failed)),
        });
    }
    tiles.push(Tile {
        figure: Unit::PerSecond.format(counts.received as f64 / run.seconds()),
        name: "messages received",
        detail: format!("{} in all; {} sent", grouped(counts.received), grouped(counts.sent)),
    });
    if counts.expected > 0 {
        tiles.push(Tile {
            figure: Unit::Share.format(counts.delivered as f64 / counts.expected as f64),
            name: "delivered in time",
            detail: format!("{} lost, {} late", grouped(counts.lost), grouped(counts.late)),
        });
    }
    tiles.push(Tile {
        figure: grouped(counts.errors),
        name: "errors",
        detail: format!("{} connects failed", grouped(counts.connects_failed)),
    });
    if let Some((server, fit)) = memory_fits(run).into_iter().find_map(|one| Some((one.server, one.fit?))) {
        tiles.push(Tile {
            figure: format!("{:.0} B", fit.slope),
            name: "memory / connection",
            detail: format!("± {:.0} B; {server}", fit.slope_error),
        });
    }
    tiles
}

/// The equation that must hold, with what does not belong to it beside it.
fn deliveries(run: &Run) -> String {
    let counts = &run.summary.counts;
    if counts.expected == 0 {
        return String::new();
    }
    let sum = counts.delivered + counts.lost + counts.late + counts.in_flight;
    let equation = format!(
        "{} expected = {} delivered + {} lost + {} late + {} in flight",
        grouped(counts.expected),
        grouped(counts.delivered),
        grouped(counts.lost),
        grouped(counts.late),
        grouped(counts.in_flight)
    );
    let holds = if sum == counts.expected { "" } else { " — <b>this does not add up</b>" };
    format!(
        "<p class=\"note\">Deliveries: {equation}{holds}. Beside them: {} duplicates, {} reordered, {} unexpected, {} \
         without a stamp.</p>\n",
        grouped(counts.duplicates),
        grouped(counts.reordered),
        grouped(counts.unexpected),
        grouped(counts.unstamped)
    )
}

pub(super) fn machines(page: &mut Page, run: &Run) {
    page.section("machines", "Machines", |page| {
        run.summary.machines.iter().for_each(|machine| page.push(&machine_facts(machine)));
        if run.summary.machines.is_empty() {
            page.push("<p class=\"nothing\">No facts were recorded.</p>\n");
        }
        page.push(&generator(run));
    });
}

fn machine_facts(machine: &MachineFacts) -> String {
    let mut html = format!("<div class=\"machine\"><h3>{}</h3>\n<dl>\n", escape(&machine.name));
    for (name, value) in &machine.facts {
        let _ = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    }
    html.push_str("</dl>\n");
    let warnings = machine.warnings.iter();
    html.push_str(&list(
        "findings",
        warnings.map(|warning| format!("<li class=\"warning\"><b>Doctor</b> {}</li>", escape(warning))),
    ));
    html.push_str("</div>\n");
    html
}

fn generator(run: &Run) -> String {
    let generator = &run.summary.generator;
    let mut facts = vec![
        ("Stampede", format!("{}, {} threads with connections", generator.version, generator.shards)),
        (
            "CPU used",
            format!(
                "{} cores on average; busiest thread {}",
                Unit::Cores.format(generator.cpu_mean),
                Unit::Share.format(generator.thread_cpu_max)
            ),
        ),
        ("taken by the hypervisor", Unit::Share.format(generator.steal_mean)),
        ("memory at most", Unit::Bytes.format(generator.rss_max_bytes as f64)),
        ("held back by its own log", Unit::Microseconds.format(generator.stalled_ms as f64 * 1000.0)),
    ];
    if generator.clock_error_us > 0 {
        let error = Unit::Microseconds.format(generator.clock_error_us as f64);
        facts.push(("clocks differ by at most", error));
    }
    if generator.agents_lost > 0 {
        facts.push(("agents lost", generator.agents_lost.to_string()));
    }
    let facts: String =
        facts.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(value))).collect();
    format!("<div class=\"machine\"><h3>The generator itself</h3>\n<dl>\n{facts}</dl></div>\n")
}

/// A section's id, its heading, and the charts in it.
type Chapter = (&'static str, &'static str, &'static [&'static str]);

/// Which charts stand together, and in which order; the errors' table follows theirs.
const CHAPTERS: [Chapter; 9] = [
    ("users", "The crowd", &["users", "joins"]),
    ("growth", "Connecting and joining as the crowd grows", &["connect-by-users", "join-by-users"]),
    ("latency", "Latency", &["latency", "latency-distribution", "latency-histogram"]),
    ("http", "HTTP", &["http"]),
    ("generator", "The generator's own delay", &["send-lag", "generator-cpu"]),
    ("throughput", "Throughput", &["messages", "bytes"]),
    ("errors", "Errors", &["errors"]),
    ("fan-out", "Fan-out", &["fan-out"]),
    ("servers", "Servers", &["memory-by-connections", "server-memory", "server-cpu"]),
];

pub(super) fn charts(page: &mut Page, run: &Run, plots: &[Plot]) {
    for (id, heading, names) in CHAPTERS {
        let charts: Vec<&Plot> = plots.iter().filter(|plot| names.contains(&plot.name)).collect();
        if id == "http" && charts.iter().all(|plot| plot.chart.is_empty()) {
            continue;
        }
        page.section(id, heading, |page| {
            chapter(page, &charts);
            match id {
                "errors" if !run.summary.errors.is_empty() => page.push(&errors(run).html()),
                "fan-out" => page.push(&fan_out(run)),
                _ => {}
            }
        });
    }
}

/// Charts of half a page's width stand in pairs.
fn chapter(page: &mut Page, charts: &[&Plot]) {
    let with_title = charts.len() > 1;
    // Two empty charts about the same absence would say it twice.
    if with_title && charts.iter().all(|plot| plot.chart.is_empty()) {
        page.push(&format!("<p class=\"nothing\">{}</p>\n", escape(&charts[0].chart.empty)));
        return;
    }
    for row in charts.chunk_by(|a, b| !a.wide && !b.wide) {
        if row.len() > 1 {
            page.push("<div class=\"pair\">\n");
        }
        let size = if row.len() > 1 { Size::HALF } else { Size::WIDE };
        row.iter().for_each(|plot| page.chart(plot, with_title, size));
        if row.len() > 1 {
            page.push("</div>\n");
        }
    }
}

fn fan_out(run: &Run) -> String {
    let fan_out = &run.summary.fan_out;
    if fan_out.publications == 0 {
        return String::new();
    }
    format!(
        "<p class=\"note\">{} publications had several receivers; {} of them reached every one.</p>\n",
        grouped(fan_out.publications),
        grouped(fan_out.complete)
    )
}

pub(super) fn tables(page: &mut Page, run: &Run) {
    let tables = tsung(run);
    page.section("tsung", "Tsung's tables", |page| {
        let parts = [
            ("Main statistics", &tables.main),
            ("Transactions", &tables.transactions),
            ("Network throughput", &tables.throughput),
            ("Counters", &tables.counters),
            ("Errors", &tables.errors),
            ("HTTP return codes", &tables.http_codes),
        ];
        for (heading, table) in parts.into_iter().filter(|(_, table)| !table.rows.is_empty()) {
            page.push(&format!("<h3>{heading}</h3>\n{}", table.html()));
        }
    });
    page.section("wsdemo", "The C10K test's table", |page| {
        page.push("<p class=\"note\">Under the names of the WebSocket C10K test (wsdemo); latency from the actual send, as there.</p>\n");
        page.push(&wsdemo(run).html());
        if let Some(term) = &run.wsdemo_term {
            page.push(&format!("<pre>{}</pre>\n", escape(term)));
        }
    });
}

/// Says of several runs which must not be believed.
pub(super) fn invalid_runs(page: &mut Page, runs: &[Run]) {
    let invalid: Vec<&Run> = runs.iter().filter(|run| !run.summary.verdict.valid).collect();
    if invalid.is_empty() {
        return;
    }
    page.section("verdicts", "Not to be believed", |page| {
        let items = invalid.iter().map(|run| {
            let reasons = run.summary.verdict.reasons.join("; ");
            format!("<li class=\"error\"><b>INVALID</b> {}: {}</li>", escape(&title(run)), escape(&reasons))
        });
        page.push(&list("findings", items));
    });
}

fn list(class: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.take(LISTED).collect();
    match (items.is_empty(), class) {
        (true, _) => String::new(),
        (false, "") => format!("<ul>{items}</ul>\n"),
        (false, class) => format!("<ul class=\"{class}\">{items}</ul>\n"),
    }
}
