//! report.html: one self-contained file.
//!
//! Its order follows a reader's questions: can I trust it, what stands out, how fast was it, on what machine, and why.

mod charts;
mod figures;
mod machines;
mod page;
mod sections;

use super::chart::Size;
use super::{Plot, Run, Table, plots};
use page::Page;

/// Returns the report of one run.
pub fn html(run: &Run) -> String {
    let plots = plots(run);
    let mut page = Page::new(run.heading(), &sections::facts(run));
    sections::verdict(&mut page, run);
    sections::findings(&mut page, run);
    figures::key_figures(&mut page, run);
    machines::machines(&mut page, run);
    charts::charts(&mut page, run, &plots);
    sections::tables(&mut page, run);
    page.finish()
}

/// Returns the report of several runs.
pub(super) fn several(runs: &[Run], plots: &[Plot], table: &Table) -> String {
    let names: Vec<&str> = runs.iter().map(Run::name).collect();
    let mut page = Page::new(&format!("{} configurations", runs.len()), &names.join(" · "));
    sections::invalid_runs(&mut page, runs);
    for plot in plots {
        page.section(plot.name, &plot.chart.title, |page| page.chart(plot, false, Size::WIDE));
    }
    page.section("figures", "Figures", |page| page.push(&table.html()));
    page.finish()
}
