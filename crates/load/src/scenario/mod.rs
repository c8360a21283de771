//! Scenarios: as written (YAML) and as meant ([`plan::Plan`]).

pub mod plan;
pub mod source;
pub mod template;

/// The format's JSON Schema (2020-12), for editors and checks outside.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<source::Scenario>()
        .to_value()
}
