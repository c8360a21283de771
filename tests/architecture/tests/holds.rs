//! The workspace is what ARCHITECTURE.md says.

use std::path::Path;

use architecture::{Picture, Workspace, edge_violations, unsafe_files};

#[test]
fn the_edges_between_our_crates_are_those_of_the_architecture() {
    let (picture, workspace) = read();
    let violations = edge_violations(&picture, &workspace.packages);
    assert!(violations.is_empty(), "compared with ARCHITECTURE.md:\n{}", violations.join("\n"));
}

#[test]
fn only_the_listed_files_contain_unsafe_code() {
    let (picture, workspace) = read();
    let found = unsafe_files(&workspace).expect("the sources are readable");
    assert_eq!(found, picture.unsafe_files, "found on the left, allowed by ARCHITECTURE.md on the right");
}

fn read() -> (Picture, Workspace) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let workspace = Workspace::read(&manifest).expect("cargo describes the workspace");
    let document =
        std::fs::read_to_string(workspace.root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md exists");
    (Picture::parse(&document).expect("its blocks are well-formed"), workspace)
}
