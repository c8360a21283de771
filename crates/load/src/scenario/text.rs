//! Reads a scenario from text: YAML, constants and types, reporting all problems in one pass.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::compile::Context;
use super::plan::Plan;
use super::problem::{Diagnostic, Origin, PROBLEMS_MAX, Problem, ScenarioErrors, source_line, suggestion};
use super::source::Scenario;
use super::yaml::{self, Node, ReadError, Segment};
use super::{compile, constants};

/// Maximum size of a scenario file in bytes.
pub const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads a scenario file and the files that it names.
///
/// `overrides` are values for the scenario's `variables`, by name.
///
/// # Errors
/// All problems found, each with its position.
pub fn load(path: &Path, overrides: &BTreeMap<String, String>) -> Result<Plan, ScenarioErrors> {
    let file_name = path.display().to_string();
    let text = read_file(path).map_err(|message| file_error(&file_name, message))?;
    let base_dir = path.parent().unwrap_or(Path::new(""));
    parse(&text, &file_name, base_dir, overrides)
}

/// Reads a scenario from text; the files that it names are relative to `base_dir`.
///
/// # Errors
/// All problems found, each with its position.
pub fn parse(
    text: &str,
    file_name: &str,
    base_dir: &Path,
    overrides: &BTreeMap<String, String>,
) -> Result<Plan, ScenarioErrors> {
    let (scenario, tree) = read_tree(text, file_name, overrides)?;
    let context = Context { file_name, base_dir };
    let origin = Origin { file: file_name, text: Some((text, &tree)) };
    compile::compile(&scenario, &context).map_err(|complaints| origin.errors(complaints))
}

/// Reads a scenario in its written form, without interpreting its texts or reading the files that it names.
///
/// # Errors
/// All problems found, each with its position.
pub fn read(
    text: &str,
    file_name: &str,
    overrides: &BTreeMap<String, String>,
) -> Result<Scenario, ScenarioErrors> {
    read_tree(text, file_name, overrides).map(|(scenario, _)| scenario)
}

fn read_file(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
    file.take(FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("cannot be read: {error}"))?;
    Ok(text)
}

fn file_error(file_name: &str, message: String) -> ScenarioErrors {
    let origin = Origin { file: file_name, text: None };
    ScenarioErrors { problems: vec![origin.problem_at(None, String::new(), message, None)] }
}

fn read_tree(
    text: &str,
    file_name: &str,
    overrides: &BTreeMap<String, String>,
) -> Result<(Scenario, Node), ScenarioErrors> {
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(file_error(file_name, format!("larger than {FILE_BYTES_MAX} bytes")));
    }
    let mut tree = yaml::compose(text).map_err(|malformed| {
        let place = Some((malformed.place.line, malformed.place.column));
        let problem = Problem {
            file: file_name.to_owned(),
            place,
            path: String::new(),
            message: malformed.message,
            help: None,
            source_line: source_line(text, place),
        };
        ScenarioErrors { problems: vec![problem] }
    })?;
    let mut complaints = constants::replace(&mut tree, overrides);
    let scenario = read_all(&mut tree, &mut complaints);
    match scenario {
        Some(scenario) if complaints.is_empty() => Ok((scenario, tree)),
        Some(_) | None => Err(Origin { file: file_name, text: Some((text, &tree)) }.errors(complaints)),
    }
}

/// Reads the tree. When a value is invalid, reports it, excludes it and reads again, so that one call finds all
/// problems.
fn read_all(tree: &mut Node, complaints: &mut Vec<Diagnostic>) -> Option<Scenario> {
    while complaints.len() < PROBLEMS_MAX {
        let error = match yaml::read::<Scenario>(tree) {
            Ok(scenario) => return Some(scenario),
            Err(error) => error,
        };
        let path = error.path();
        let follows = leave_out(tree, &path);
        if !follows {
            complaints.push(complaint(error));
        }
        if tree.ignored {
            break;
        }
    }
    None
}

/// Excludes the value at a path. Returns whether the problem may be only a consequence of an earlier exclusion.
fn leave_out(tree: &mut Node, path: &[Segment]) -> bool {
    let (node, depth) = tree.deepest_mut(path);
    let follows = node.damaged;
    if node.ignored {
        // It is already excluded and still causes an error: give up.
        tree.ignored = true;
        return follows;
    }
    node.ignored = true;
    if let Some(parent) = depth.checked_sub(1) {
        tree.deepest_mut(&path[..parent]).0.damaged = true;
    }
    follows
}

fn complaint(error: ReadError) -> Diagnostic {
    let help = match &error.allowed {
        _ if error.comma => {
            Some("within `{ … }`, put values with a comma in quotes: `\"zipf(10, 1.1)\"`".to_owned())
        }
        Some((given, allowed)) => suggestion(given, allowed.iter().copied()),
        None => None,
    };
    // Where the name of a step or an expression is a key, the message calls it a key.
    let message = match &error.allowed {
        Some((given, _)) if error.at_key => format!("unknown key `{given}`"),
        Some(_) | None => error.message.clone(),
    };
    Diagnostic { path: error.path(), at_key: error.at_key, message, help }
}
