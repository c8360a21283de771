//! Replays the corpora of the fuzz targets through the functions that the targets call.

use crate::properties;
use std::fs;
use std::path::Path;

#[test]
fn every_input_of_the_corpora_holds_the_properties() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (target, property) in properties::TARGETS {
        let folder = corpora.join(target);
        let inputs = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut count = 0;
        for input in inputs {
            let path = input.expect("a directory entry").path();
            let data = fs::read(&path).expect("a readable input");
            // On failure the captured output ends with the input's name.
            eprintln!("{}", path.display());
            property(&data);
            count += 1;
        }
        assert!(count > 0, "the corpus of {target} is empty");
    }
}
