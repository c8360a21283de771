//! Replays the corpus of the fuzz target `hub`.

use crate::model;
use std::fs;
use std::path::Path;

#[test]
fn every_input_of_the_corpus_agrees_with_the_reference_model() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/hub");
    let inputs = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut count = 0;
    for input in inputs {
        let path = input.expect("a directory entry").path();
        // On failure the captured output ends with the input's name.
        eprintln!("{}", path.display());
        model::run(&model::operation::operations(&fs::read(&path).expect("a readable input")));
        count += 1;
    }
    assert!(count > 0, "the corpus is empty");
}
