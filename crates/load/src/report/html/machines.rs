//! Facts about the machines and the generator.

use std::fmt::Write as _;

use super::super::chart::escape;
use super::super::{Run, generator_facts};
use super::page::Page;
use super::sections::list;
use crate::statistics::MachineFacts;

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
    let facts = generator_facts(&run.summary.generator);
    if facts.is_empty() {
        return String::new();
    }
    let facts: String =
        facts.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(value))).collect();
    format!("<div class=\"machine\"><h3>The generator itself</h3>\n<dl>\n{facts}</dl></div>\n")
}
