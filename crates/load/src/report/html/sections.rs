//! The sections of text and tables: verdict, findings, and what Tsung and the C10K test would have printed.

use super::super::chart::{Unit, escape};
use super::super::{Run, tsung, wsdemo};
use super::page::Page;
use crate::statistics::Severity;

/// Maximum number of doctor warnings, reasons and similar items in a list; a machine has about a dozen.
const LISTED: usize = 200;

/// Returns which run it is, when it started and how long it took.
pub(super) fn facts(run: &Run) -> String {
    let summary = &run.summary;
    let named = |name: &str, value: &str| (!value.is_empty()).then(|| format!("{name}{value}"));
    let facts = [
        named("", if run.name() == run.heading() { "" } else { run.name() }),
        named("started ", &summary.started),
        Some(format!("{} long", Unit::Clock.format(summary.seconds))),
        Some(format!("seed {}", summary.seed)),
        named("ended by: ", &summary.ended_by),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

pub(super) fn verdict(page: &mut Page, run: &Run) {
    let verdict = &run.summary.verdict;
    let (class, word, says) = match verdict.valid {
        true if run.summary.counts.unjudged > 0 => (
            "verdict",
            "VALID",
            "The generator kept up, and what could be judged adds up: of some deliveries between machines it cannot be told \
             whether they were lost.",
        ),
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
        let words = threshold.measured_in_words();
        let measured = if threshold.measured.is_some() { format!("measured: {words}") } else { words };
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

/// Names the runs, out of several, that are invalid.
pub(super) fn invalid_runs(page: &mut Page, runs: &[Run]) {
    let invalid: Vec<&Run> = runs.iter().filter(|run| !run.summary.verdict.valid).collect();
    if invalid.is_empty() {
        return;
    }
    page.section("verdicts", "Not to be believed", |page| {
        let items = invalid.iter().map(|run| {
            let reasons = run.summary.verdict.reasons.join("; ");
            format!("<li class=\"error\"><b>INVALID</b> {}: {}</li>", escape(run.name()), escape(&reasons))
        });
        page.push(&list("findings", items));
    });
}

pub(super) fn list(class: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.take(LISTED).collect();
    match (items.is_empty(), class) {
        (true, _) => String::new(),
        (false, "") => format!("<ul>{items}</ul>\n"),
        (false, class) => format!("<ul class=\"{class}\">{items}</ul>\n"),
    }
}
