//! `setdynvars`: values from files, random values and constants.

use std::collections::BTreeMap;

use super::document::Element;
use super::sessions::SessionReader;
use super::variables::{FEEDER_PREFIX, Known, identifier};
use crate::scenario::literal;
use crate::scenario::source::{Action, Expression, Feeder, Many, Named, Order, Step};

/// Maximum length of one random text: the maximum of a scenario.
const RANDOM_TEXT_MAX: u64 = 1024 * 1024;

const SOURCES: &[&str] = &[
    "random_string",
    "urandom_string",
    "random_number",
    "file",
    "local_file",
    "erlang",
    "eval",
    "jsonpath",
    "value",
    "server",
];

/// Feeders of all sessions, by name.
#[derive(Default)]
pub(super) struct Feeders(BTreeMap<String, Feeder>);

impl Feeders {
    pub(super) fn into_map(self) -> BTreeMap<String, Feeder> {
        self.0
    }

    /// Returns the name of this feeder; an identical existing feeder is shared.
    fn name(&mut self, id: &str, feeder: Feeder) -> String {
        if let Some((name, _)) = self.0.iter().find(|(_, known)| **known == feeder) {
            return name.clone();
        }
        let mut name = format!("{FEEDER_PREFIX}{}", identifier(id));
        while self.0.contains_key(&name) {
            name.push('_');
        }
        self.0.insert(name.clone(), feeder);
        name
    }
}

impl SessionReader<'_, '_> {
    pub(super) fn set_variables(&mut self, element: Element<'_>) -> Vec<Step> {
        let names: Vec<&str> =
            element.children().filter_map(|child| self.findings.required(child, "name")).collect();
        if names.is_empty() {
            self.findings.problem(element, None, "there is no `var`", None);
        }
        // Without this attribute, Tsung would call a function.
        let source = match element.attribute("sourcetype") {
            None => "erlang",
            Some(_) => self.findings.word(element, "sourcetype", SOURCES).unwrap_or_default(),
        };
        match source {
            "random_string" | "urandom_string" => self.random_texts(element, &names),
            "random_number" => self.random_numbers(element, &names),
            "value" => self.constants(element, &names),
            "file" | "local_file" => self.rows(element, &names, source),
            "server" => self.server(element, &names),
            "" => Vec::new(),
            other => {
                let what_to_do = match other {
                    "jsonpath" => "take the value out of the message or response itself, by dyn_variable",
                    _ => "Erlang is not run: set the values by sourcetype value, file or random_…",
                };
                self.findings.unsupported(element, None, format!("values from {other}"), what_to_do);
                Vec::new()
            }
        }
    }

    fn random_texts(&mut self, element: Element<'_>, names: &[&str]) -> Vec<Step> {
        let length = self.findings.count(element, "length").unwrap_or(20);
        if length > RANDOM_TEXT_MAX {
            self.findings.problem(element, Some("length"), format!("at most {RANDOM_TEXT_MAX}"), None);
        }
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.findings.supported(element, format!("{length} random letters and digits"));
        let set = names.iter().map(|name| (self.variables.write(name), Expression::RandomText(length)));
        vec![Action::Set(set.collect()).into()]
    }

    fn random_numbers(&mut self, element: Element<'_>, names: &[&str]) -> Vec<Step> {
        let first = self.findings.whole(element, "start").unwrap_or(1);
        let last = self.findings.whole(element, "end").unwrap_or(10);
        if first > last {
            self.findings.problem(element, Some("end"), "it must not be below `start`", None);
        }
        self.findings.supported(element, format!("a number from {first} to {last}"));
        let known = Known::Uniform(first as f64, last as f64);
        let draw = format!("{{{{random({first}, {last})}}}}");
        let set = names
            .iter()
            .map(|name| (self.variables.write_known(name, known), Expression::Text(draw.clone())));
        vec![Action::Set(set.collect()).into()]
    }

    fn constants(&mut self, element: Element<'_>, names: &[&str]) -> Vec<Step> {
        let Some(value) = self.findings.required(element, "value") else { return Vec::new() };
        self.findings.supported(element, format!("the value {value}"));
        let number = value.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
        let set = names.iter().map(|name| {
            let name = match number {
                Some(number) => self.variables.write_known(name, Known::Constant(number)),
                None => self.variables.write(name),
            };
            (name, Expression::Text(literal(value)))
        });
        vec![Action::Set(set.collect()).into()]
    }

    /// Sets the host and port of the user's server, which are known only if there is a single server.
    fn server(&mut self, element: Element<'_>, names: &[&str]) -> Vec<Step> {
        let [server] = self.servers else {
            let what_to_do = "`{{target_host}}` stands for the host and port of the user's target";
            self.findings.unsupported(element, None, "host and port of the user's server", what_to_do);
            return Vec::new();
        };
        self.findings.supported(element, "host and port of the server");
        let values = [literal(&server.host), server.port.to_string()];
        let set = names
            .iter()
            .zip(values)
            .map(|(name, value)| (self.variables.write(name), Expression::Text(value)));
        vec![Action::Set(set.collect()).into()]
    }

    fn rows(&mut self, element: Element<'_>, names: &[&str], source: &str) -> Vec<Step> {
        let id = element.attribute("fileid").unwrap_or("default");
        let Some(file) = self.options.files.get(id) else {
            let message = format!("there is no file `{id}`");
            let help = format!("name it: `<option name=\"file_server\" id=\"{id}\" value=\"…\"/>`");
            self.findings.problem(element, Some("fileid"), message, Some(help));
            return Vec::new();
        };
        let random = self.findings.word(element, "order", &["iter", "random"]) == Some("random");
        let order = if random || source == "local_file" { Order::Random } else { Order::Sequential };
        let mut delimiter = element.attribute("delimiter").unwrap_or(";").chars();
        let (Some(separator), None) = (delimiter.next().filter(char::is_ascii), delimiter.next()) else {
            let what_to_do = "let one ASCII character separate the values";
            self.findings.unsupported(element, Some("delimiter"), "rows of a file", what_to_do);
            return Vec::new();
        };
        let variables: Vec<String> = names.iter().map(|name| self.variables.write(name)).collect();
        let columns = columns(&variables);
        let feeder = Feeder { file: file.clone(), order, separator, columns: columns.clone() };
        let feeder = self.feeders.name(id, feeder);
        let text = format!("a row of {file} (feeder {feeder})");
        let mut why =
            "the file needs a value for each variable in each line; quotes are those of CSV".to_owned();
        let mut steps: Vec<Step> = Vec::new();
        // A session has the first row of each feeder from its start.
        let is_first = self.fed.insert(feeder.clone());
        if !is_first || self.nesting > 0 {
            why.push_str("; each user takes one row more than Tsung would, at its beginning");
            steps.push(Action::Feed(Many(vec![feeder.clone()])).into());
        }
        self.findings.approximated(element, None, text, why);
        let set = variables
            .into_iter()
            .zip(columns)
            .map(|(variable, column)| (variable, Expression::Text(format!("{{{{{feeder}.{column}}}}}"))));
        steps.push(Action::Set(set.collect::<Named<_>>()).into());
        steps
    }
}

/// Returns the column names: those of the variables, without duplicates.
fn columns(variables: &[String]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::with_capacity(variables.len());
    for variable in variables {
        let mut column = variable.clone();
        while columns.contains(&column) {
            column.push('_');
        }
        columns.push(column);
    }
    columns
}
