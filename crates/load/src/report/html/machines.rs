//! What the machines and the generator were like.

use std::fmt::Write as _;

use super::super::Run;
use super::super::chart::Unit;
use super::escape;
use super::page::Page;
use super::sections::list;
use crate::statistics::{GeneratorFacts, MachineFacts};

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
    if *generator == GeneratorFacts::default() {
        return String::new();
    }
    let mut facts = vec![
        ("version", generator.version.clone()),
        ("threads with connections", generator.shards.to_string()),
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
