//! Tests that the published schema of `summary.json` matches the code.

use std::path::Path;

use load::statistics::Summary;

/// If set, the schema is written instead of compared.
const WRITE: &str = "STAMPEDE_WRITE_SCHEMA";

#[test]
fn the_published_schema_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/summary.schema.json");
    let schema = schemars::schema_for!(Summary);
    let text = serde_json::to_string_pretty(&schema).expect("writable") + "\n";
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text, "docs/summary.schema.json is not current: run this test with {WRITE}=1");
}
