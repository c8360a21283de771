//! The charts of a run's report, grouped into chapters.

use super::super::chart::{Size, escape, grouped};
use super::super::text::errors;
use super::super::{Plot, Run};
use super::page::Page;

/// A section's id, its heading, and its charts.
type Chapter = (&'static str, &'static str, &'static [&'static str]);

/// The grouping and order of the charts; the table of errors follows the error charts.
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

/// Writes the charts of a chapter; charts of half the page width are placed in pairs.
fn chapter(page: &mut Page, charts: &[&Plot]) {
    let with_title = charts.len() > 1;
    // Several empty charts would repeat the same message.
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
