//! Converts Tsung's XML to a scenario, with a line-by-line report on how each element was translated.
//!
//! The vocabulary and its semantics are those of Tsung 1.8. An element with the same behaviour is `Supported`, one with
//! different behaviour says how it differs, and one that is left out says what to do instead. Nothing here reads files,
//! not even the document type definition, and no problem in the file is silently ignored.

mod addresses;
mod captures;
mod conditions;
mod document;
mod error;
mod findings;
mod http;
mod jsonpath;
mod load;
mod loops;
mod machines;
mod matches;
mod options;
mod remark;
mod requests;
mod sessions;
mod steps;
mod substitution;
mod thinktime;
mod values;
mod variables;
mod vocabulary;
mod websocket;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use document::FILE_BYTES_MAX;
pub use error::{ImportErrors, Problem};
pub use remark::{Remark, Verdict};

use crate::scenario::source::{Scenario, Tls};
use document::{Element, Source};
use findings::Findings;

/// A Tsung file converted to a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The scenario.
    pub scenario: Scenario,
    /// How each element was translated, in the order of the lines.
    pub report: Vec<Remark>,
}

impl Imported {
    /// Returns the remarks on what was left out.
    pub fn unsupported(&self) -> impl Iterator<Item = &Remark> {
        self.report.iter().filter(|remark| matches!(remark.verdict, Verdict::Unsupported(_)))
    }

    /// Formats the report as a table for a terminal, with a line of totals.
    #[must_use]
    pub fn report_as_text(&self) -> String {
        remark::table(&self.report)
    }

    /// Returns the report as a list of objects with `line`, `element`, `attribute`, `verdict`, `what` and `note`.
    #[must_use]
    pub fn report_as_json(&self) -> serde_json::Value {
        self.report.iter().map(Remark::to_json).collect()
    }
}

/// Returns whether a text looks like a Tsung file rather than a scenario.
#[must_use]
pub fn is_tsung(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Converts a Tsung file; `file_name` is used in messages and for the scenario's name.
///
/// # Errors
/// All problems of the file, each with its line, element and attribute; also sessions of unsupported protocols, unless
/// no user would run them.
pub fn import(text: &str, file_name: &str) -> Result<Imported, ImportErrors> {
    let errors = |problems| ImportErrors { file: file_name.to_owned(), problems };
    let source = Source::new(text).map_err(|problem| errors(vec![problem]))?;
    let document = source.parse().map_err(|problem| errors(vec![problem]))?;
    let root = document.root(&source).map_err(|problem| errors(vec![problem]))?;
    let mut findings = Findings::default();
    if vocabulary::check(root, &mut findings).is_err() {
        return Err(errors(findings.into_problems()));
    }
    let scenario = scenario(root, file_name, &mut findings);
    if document.ends_early {
        let why = "Tsung stops reading at </tsung> as well";
        findings.approximated(root, None, "what stands after the document is left out", why);
    }
    if !findings.problems.is_empty() {
        return Err(errors(findings.into_problems()));
    }
    Ok(Imported { scenario, report: findings.into_remarks() })
}

/// Reads the parts in the order of their dependencies.
fn scenario(root: Element<'_>, file_name: &str, findings: &mut Findings) -> Scenario {
    let mut scenario = Scenario { name: file_stem(file_name), ..Scenario::default() };
    about(root, &mut scenario, findings);
    let options = options::read(root, findings);
    let servers = machines::servers(root, findings);
    scenario.source_addresses = machines::clients(root, findings).into();
    machines::monitoring(root, findings);
    scenario.ports = options.ports.clone();
    if let Some(seed) = options.seed {
        scenario.seed = seed;
    }
    scenario.tls = Tls { insecure: servers.iter().any(|server| server.is_encrypted), ..Tls::default() };
    let load = load::read(root, findings);
    sessions::read(root, &options, &servers, load, &mut scenario, findings);
    scenario
}

fn file_stem(file_name: &str) -> String {
    Path::new(file_name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads the root's attributes and the file's description of itself.
fn about(root: Element<'_>, scenario: &mut Scenario, findings: &mut Findings) {
    findings.supported(root, "a scenario");
    let note = |text: &str| text.to_owned();
    for (attribute, what, why) in [
        ("loglevel", "no log level", "errors are counted and reported by kind, each with a first example"),
        (
            "dumptraffic",
            "no dump of the traffic",
            "the event log has a line for each message: ids, size, times",
        ),
        (
            "backend",
            "no choice of back ends",
            "a run writes its event log, its statistics and its report itself",
        ),
    ] {
        if root.attribute(attribute).is_some() {
            findings.approximated(root, Some(attribute), what, note(why));
        }
    }
    let Some(information) = root.child("information") else { return };
    findings.supported(information, "name and description of the scenario");
    for child in information.children() {
        let text = child.text().trim().to_owned();
        match child.name() {
            "name" if !text.is_empty() => scenario.name = text,
            "description" if !text.is_empty() => scenario.description = Some(text),
            "name" | "description" => {}
            _ => findings.approximated(
                child,
                None,
                "not kept",
                note("a scenario has a name and a description"),
            ),
        }
    }
}
