//! The OpenAPI 3.1 document, generated from the table of operations.

use crate::caller::{ACTING_HEADER, Callers};
use crate::idempotency::{IDEMPOTENCY_HEADER, KEEP_MINUTES, KEEP_SECRET_MINUTES};
use crate::input::BODY_BYTES_MAX;
use crate::operation::{AnswerKept, Group, Operation, Repetition};
use crate::problem::{Code, Problem};
use crate::reply::Success;
use crate::shapes::ids;
use axum::http::StatusCode;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The base path of the operations.
pub(crate) const BASE: &str = "/api/v1";

/// Returns the document.
pub(crate) fn document(groups: &[Group]) -> Value {
    let mut generator = generator();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for group in groups {
        for operation in &group.operations {
            let method = operation.method.as_str().to_ascii_lowercase();
            let described = describe(group, operation, &mut generator);
            paths.entry(format!("{BASE}{}", operation.path)).or_default().insert(method, described);
        }
    }
    let problem = Problem::schema(&mut generator);
    let tags: Vec<Value> =
        groups.iter().map(|group| json!({ "name": group.name, "description": group.about })).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Throng",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer", "description": BEARER } },
            "responses": responses(&problem),
            "schemas": generator.take_definitions(true),
        },
        "x-problem-codes": codes(),
    })
}

const DESCRIPTION: &str = "Manages the communities, people, rooms, conversations and messages of a Throng server. \
     Times are milliseconds since 1970 (UTC). Errors are problem documents (RFC 9457) with a `code`. Unknown \
     fields are rejected. The response does not reveal whether something does not exist or is hidden from the \
     caller. Lists are paged: pass the `next` of a response to get the next page. `x-callers` lists who may call \
     an operation: `key:` and the scope of a server key, `person`, `anybody`, `operator`.";
const BEARER: &str = "A server key (`thr_…`) of the community, within its scopes; a person's token, within that \
     person's permissions; or, on the administration address, the operator's token.";

/// OpenAPI 3.1 accepts JSON Schema 2020-12 as it is.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

fn describe(group: &Group, operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut described = json!({
        "operationId": operation.id,
        "tags": [group.name],
        "summary": operation.summary,
        "description": description(operation),
        "parameters": parameters(operation, generator),
        "responses": answers(operation, generator),
        "x-callers": callers(operation.callers),
    });
    if operation.callers.strangers {
        described["security"] = json!([{}, { "bearer": [] }]);
    }
    if let Some(schema) = (operation.shape.body)(generator) {
        described["requestBody"] = json!({
            "required": true,
            "description": format!("At most {BODY_BYTES_MAX} bytes."),
            "content": { "application/json": { "schema": schema } },
        });
    }
    described
}

fn description(operation: &Operation) -> String {
    let Callers { scope, people, strangers } = operation.callers;
    let strangers = strangers.then(|| "callers without credentials".to_owned());
    let scope = scope.map(|scope| format!("server keys with the scope `{}`", scope.meant().name()));
    let people = people.then(|| "people, within their permissions".to_owned());
    let callers: Vec<String> =
        scope.into_iter().chain(people).chain(strangers).chain(["the operator".to_owned()]).collect();
    let separator = if operation.about.is_empty() { "" } else { " " };
    format!("{}{separator}Available to {}.", operation.about, callers.join("; "))
}

/// Who may call, in machine-readable form.
fn callers(Callers { scope, people, strangers }: Callers) -> Vec<String> {
    let scope = scope.map(|scope| format!("key:{}", scope.meant().name()));
    let people = people.then(|| "person".to_owned());
    let strangers = strangers.then(|| "anybody".to_owned());
    scope.into_iter().chain(people).chain(strangers).chain(["operator".to_owned()]).collect()
}

fn parameters(operation: &Operation, generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters = Vec::new();
    if operation.path.contains("{community}") {
        let schema = generator.subschema_for::<ids::Community>();
        parameters.push(json!({ "name": "community", "in": "path", "required": true, "schema": schema }));
    }
    parameters.extend(fields((operation.shape.path)(generator), "path"));
    parameters.extend(fields((operation.shape.query)(generator), "query"));
    if let Some(description) = idempotency_key(operation.repetition) {
        parameters.push(json!({
            "name": IDEMPOTENCY_HEADER, "in": "header", "required": false, "description": description,
            "schema": generator.subschema_for::<ids::IdempotencyKey>(),
        }));
    }
    if operation.callers.people && operation.callers.scope.is_some() {
        parameters.push(json!({
            "name": ACTING_HEADER, "in": "header", "required": false,
            "description": "The person as whom a server key acts, within that person's permissions; without it, \
                 the key acts as the community.",
            "schema": generator.subschema_for::<ids::Person>(),
        }));
    }
    parameters
}

/// Describes the header for an operation that takes it.
fn idempotency_key(repetition: Repetition) -> Option<String> {
    let done_once = format!(
        "A key that the sender chooses for this request. The same request with the same key within {KEEP_MINUTES} \
         minutes gets the first response again and has no further effect; a different request gets 422 \
         `idempotency_key_reused`, and while the first is in progress the response is 409 `under_way`. Failed \
         requests are not kept. Only the server that received the request knows the key, until it stops."
    );
    match repetition {
        Repetition::Harmless => None,
        Repetition::Stored => Some(
            "The message's `client_id`. The same message with the same id is never stored twice; a different \
             message with it gets 409 `client_id_reused`."
                .to_owned(),
        ),
        Repetition::Kept(AnswerKept::Long) => Some(done_once),
        Repetition::Kept(AnswerKept::Briefly) => Some(format!(
            "{done_once} The response contains a secret and is kept for {KEEP_SECRET_MINUTES} minutes; after that \
             the response is 409 `answer_gone`."
        )),
    }
}

/// Converts each property of an object to a parameter.
fn fields(schema: Schema, place: &str) -> Vec<Value> {
    let schema = schema.to_value();
    let required = |name: &String| {
        let names = schema["required"].as_array();
        place == "path" || names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    properties
        .into_iter()
        .map(|(name, mut schema)| {
            let required = required(&name);
            let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let mut parameter =
                json!({ "name": name, "in": place, "required": required, "schema": never_null(schema) });
            if let Some(description) = description {
                parameter["description"] = description;
            }
            parameter
        })
        .collect()
}

/// A parameter may be absent, but null cannot be written in a URL.
fn never_null(mut schema: Value) -> Value {
    if let Some(any) = schema.get("anyOf").and_then(Value::as_array) {
        let others: Vec<Value> = any.iter().filter(|one| one["type"] != "null").cloned().collect();
        if let [only] = others.as_slice() {
            return only.clone();
        }
    }
    if let Some(kinds) = schema.get("type").and_then(Value::as_array) {
        let others: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
        if let [only] = others.as_slice() {
            schema["type"] = only.clone();
        }
    }
    schema
}

fn answers(operation: &Operation, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut answers = Map::new();
    for Success { status, description, content } in (operation.shape.successes)(generator) {
        let mut answer = json!({ "description": description });
        if let Some((media_type, schema)) = content {
            answer["content"] = json!({ media_type: { "schema": schema } });
        }
        answers.insert(status.as_str().to_owned(), answer);
    }
    for status in problem_statuses() {
        let reference = json!({ "$ref": format!("#/components/responses/{}", status.as_str()) });
        answers.insert(status.as_str().to_owned(), reference);
    }
    answers
}

/// Returns every status that a problem may have. Any operation may fail with each.
fn problem_statuses() -> Vec<StatusCode> {
    let mut statuses: Vec<StatusCode> = Code::ALL.iter().map(|(code, _)| code.status()).collect();
    statuses.sort();
    statuses.dedup();
    statuses
}

fn responses(problem: &Schema) -> Map<String, Value> {
    let response = |status: StatusCode| {
        let codes: Vec<String> = Code::ALL
            .iter()
            .filter(|(code, _)| code.status() == status)
            .map(|(code, about)| format!("`{}`: {}", code.name(), about.trim()))
            .collect();
        let mut response = json!({
            "description": codes.join(" "),
            "content": { "application/problem+json": { "schema": problem } },
        });
        let may_be_waited_for =
            [StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        if may_be_waited_for.contains(&status) {
            let header = json!({ "description": "Seconds to wait before the next attempt.", "schema": { "type": "integer" } });
            response["headers"] = json!({ "Retry-After": header });
        }
        (status.as_str().to_owned(), response)
    };
    problem_statuses().into_iter().map(response).collect()
}

fn codes() -> Vec<Value> {
    let row = |(code, about): &(Code, &str)| json!({ "code": code.name(), "status": code.status().as_u16(), "description": about.trim() });
    Code::ALL.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema as _;

    #[test]
    fn a_parameter_is_never_null() {
        assert_eq!(
            never_null(json!({ "anyOf": [{ "$ref": "x" }, { "type": "null" }] })),
            json!({ "$ref": "x" })
        );
        assert_eq!(
            never_null(json!({ "type": ["string", "null"], "maxLength": 3 })),
            json!({
                "type": "string", "maxLength": 3
            })
        );
    }

    #[test]
    fn the_schema_of_an_id_has_its_bounds() {
        let schema = ids::Community::json_schema(&mut generator());
        assert_eq!(schema.get("maxLength"), Some(&json!(40)));
    }
}
