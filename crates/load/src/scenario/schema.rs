//! The format as JSON Schema (2020-12), for editors and external validators.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::source::Scenario;
use super::yaml::key_of_a_word;

/// Returns the format's JSON Schema; docs/scenario.schema.json is its output.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Scenario>().to_value();
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        for (name, definition) in definitions.iter_mut() {
            allow_words(name, definition);
        }
    }
    allow_constants(&mut schema);
    schema
}

/// Allows a scalar where the format has a one-word short form of a mapping.
fn allow_words(name: &str, definition: &mut Value) {
    if key_of_a_word(name).is_some() {
        let mapping = definition.take();
        *definition = json!({ "anyOf": [{ "type": ["string", "number", "boolean"] }, mapping] });
    }
}

/// Allows `${name}` for any number, boolean or fixed word, and a number or boolean for any text.
fn allow_constants(schema: &mut Value) {
    match schema {
        Value::Array(values) => values.iter_mut().for_each(allow_constants),
        Value::Object(object) => {
            object.values_mut().for_each(allow_constants);
            widen_text(object);
            if is_fixed(object) {
                let fixed = std::mem::take(object);
                let constant = json!({ "type": "string", "pattern": "\\$\\{" });
                object.insert("anyOf".to_owned(), json!([fixed, constant]));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Allows a number or boolean where text is expected, such as `5`.
fn widen_text(schema: &mut Map<String, Value>) {
    let names = match schema.get("type") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(_) | None => return,
    };
    let free = !["enum", "const", "pattern"].iter().any(|key| schema.contains_key(*key));
    if free && names.iter().any(|name| name == "string") {
        let mut names = names;
        for name in ["number", "boolean"] {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        schema.insert("type".to_owned(), json!(names));
    }
}

/// Returns whether a schema admits only numbers, booleans or fixed words, and no other text.
fn is_fixed(schema: &Map<String, Value>) -> bool {
    if schema.contains_key("enum") || schema.contains_key("const") {
        return true;
    }
    match schema.get("type") {
        Some(Value::String(name)) => is_fixed_type(name),
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter_map(Value::as_str).peekable();
            names.peek().is_some() && names.all(|name| is_fixed_type(name) || name == "null")
        }
        Some(_) | None => false,
    }
}

fn is_fixed_type(name: &str) -> bool {
    matches!(name, "integer" | "number" | "boolean")
}
