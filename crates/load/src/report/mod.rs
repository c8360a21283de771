//! Everything that people read after a run: report.html, plots, tables, findings, and the comparison of two runs.
//!
//! Owns text and graphics. It never measures and never decides whether a run is valid: figures, verdict and findings
//! come from [`statistics`](crate::statistics), and a missing figure is shown as missing, never as 0.

pub mod chart;
mod compare;
mod configurations;
mod fit;
mod generator;
mod html;
mod plots;
mod run;
mod siege;
mod table;
mod text;
mod tsung;
mod write;
mod wsdemo;

pub use compare::{Change, Comparison, Metric, Outcome, Tolerance, compare};
pub use configurations::{configurations, write_configurations};
pub use fit::{Fit, fit};
pub use html::html;
pub use plots::{Plot, plots};
pub use run::{Run, metric};
pub use siege::siege;
pub use table::{Cell, Table};
pub use text::{Style, text};
pub use tsung::{TsungTables, tsung};
pub use write::{ReportError, write};
pub use wsdemo::wsdemo;

use generator::generator_facts;
