//! Constants of a scenario: `${name}` in any value, or an expression over them, substituted before the value is read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::arithmetic;
use super::problem::{Diagnostic, suggestion};
use super::yaml::{Content, Node, Segment};

/// Maximum size of one value in bytes after substitution.
const VALUE_BYTES_MAX: usize = 1024 * 1024;

/// Substitutes the constants defined by the tree's `variables`, overridden by `overrides`, in all other values.
pub(super) fn replace(root: &mut Node, overrides: &BTreeMap<String, String>) -> Vec<Diagnostic> {
    let mut complaints = Vec::new();
    let constants = take_constants(root, overrides, &mut complaints);
    if let Content::Map(entries) = &mut root.content {
        for entry in entries.iter_mut().filter(|entry| entry.key != "variables") {
            let mut replacement = Replacement {
                constants: &constants,
                path: vec![Segment::Key(entry.key.clone())],
                complaints: &mut complaints,
            };
            replacement.node(&mut entry.value);
        }
    }
    complaints
}

/// Collects the constants by name, and writes the overrides into their nodes.
fn take_constants(
    root: &mut Node,
    overrides: &BTreeMap<String, String>,
    complaints: &mut Vec<Diagnostic>,
) -> BTreeMap<String, String> {
    let mut constants = BTreeMap::new();
    if let Content::Map(entries) = &mut root.content
        && let Some(variables) = entries.iter_mut().find(|entry| entry.key == "variables")
        && let Content::Map(variables) = &mut variables.value.content
    {
        for variable in variables {
            let Content::Scalar { text, plain } = &mut variable.value.content else { continue };
            if let Some(value) = overrides.get(&variable.key) {
                text.clone_from(value);
                *plain = false;
            }
            constants.insert(variable.key.clone(), text.clone());
        }
    }
    for name in overrides.keys().filter(|name| !constants.contains_key(*name)) {
        let known = suggestion(name, constants.keys().map(String::as_str));
        complaints.push(Diagnostic {
            path: vec![Segment::Key("variables".to_owned())],
            at_key: true,
            message: format!("`{name}` is set on the command line, but is not a variable of the scenario"),
            help: known.or_else(|| Some(format!("declare it with a default: `variables: {{ {name}: … }}`"))),
        });
    }
    constants
}

struct Replacement<'a> {
    constants: &'a BTreeMap<String, String>,
    path: Vec<Segment>,
    complaints: &'a mut Vec<Diagnostic>,
}

impl Replacement<'_> {
    fn node(&mut self, node: &mut Node) {
        match &mut node.content {
            Content::Scalar { text, .. } if text.contains("${") => match self.fill(text) {
                Ok(filled) => *text = filled,
                Err((message, help)) => {
                    node.ignored = true;
                    self.complain(message, help);
                }
            },
            Content::Scalar { .. } => {}
            Content::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.path.push(Segment::Index(index));
                    self.node(item);
                    self.path.pop();
                    node.damaged |= item.ignored;
                }
            }
            Content::Map(entries) => {
                for entry in entries {
                    self.path.push(Segment::Key(entry.key.clone()));
                    self.node(&mut entry.value);
                    if entry.key.contains("${") {
                        match self.fill(&entry.key) {
                            Ok(filled) => entry.key = filled,
                            Err((message, help)) => self.complain(message, help),
                        }
                    }
                    self.path.pop();
                    node.damaged |= entry.value.ignored;
                }
            }
        }
    }

    fn complain(&mut self, message: String, help: Option<String>) {
        self.complaints.push(Diagnostic { path: self.path.clone(), at_key: false, message, help });
    }

    /// Replaces `${name}` with the constant, `${name * 2}` with the computed number, and `$${` with `${`.
    fn fill(&self, text: &str) -> Result<String, (String, Option<String>)> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(place) = rest.find("${") {
            let before = &rest[..place];
            let after = &rest[place + 2..];
            if let Some(before) = before.strip_suffix('$') {
                filled.push_str(before);
                filled.push_str("${");
                rest = after;
                continue;
            }
            filled.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                return Err((
                    "`${` has no closing `}`".to_owned(),
                    Some("`$${` stands for `${` itself".to_owned()),
                ));
            };
            filled.push_str(&self.value(name.trim())?);
            if filled.len() > VALUE_BYTES_MAX {
                return Err((
                    format!("longer than {VALUE_BYTES_MAX} bytes after its variables are replaced"),
                    None,
                ));
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, name: &str) -> Result<Cow<'_, str>, (String, Option<String>)> {
        if let Some(value) = self.constants.get(name) {
            return Ok(Cow::Borrowed(value));
        }
        if arithmetic::is_term(name) {
            let help = "a term consists of numbers and variables, separated by `*` or `/` with spaces around \
                them";
            let complaint = |message| (message, Some(help.to_owned()));
            return arithmetic::value_of(name, self.constants).map(Cow::Owned).map_err(complaint);
        }
        let help = suggestion(name, self.constants.keys().map(String::as_str))
            .unwrap_or_else(|| "declare it under `variables:` with a default".to_owned());
        Err((format!("unknown variable `{name}`"), Some(help)))
    }
}
