//! Finds the Rust files that contain `unsafe` code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::workspace::Workspace;

/// The files of the workspace's packages with `unsafe` in their code, as paths from the workspace's root.
///
/// The compiler's lint `unsafe_code` is the fence; this finds who opened its gate.
///
/// # Errors
/// A folder or file that cannot be read.
pub fn unsafe_files(workspace: &Workspace) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for package in &workspace.packages {
        for file in rust_files(&package.folder)? {
            if has_unsafe(&fs::read_to_string(&file)?) {
                let relative = file.strip_prefix(&workspace.root).unwrap_or(&file);
                found.insert(relative.display().to_string());
            }
        }
    }
    Ok(found)
}

/// All Rust files below `folder`, apart from build results, hidden folders and what npm installed.
fn rust_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_skipped =
                name == "target" || name == "node_modules" || name.as_encoded_bytes().starts_with(b".");
            if entry.file_type()?.is_dir() {
                folders.extend((!is_skipped).then(|| entry.path()));
            } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

/// Whether a line outside of comments has the keyword where code can have it: before a block, an item or an attribute's
/// argument. Text that reads like code counts as well: better a false alarm than a gap.
fn has_unsafe(source: &str) -> bool {
    source.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).any(|line| {
        line.match_indices(KEYWORD).any(|(at, _)| {
            let is_word =
                !line[..at].ends_with(|character: char| character.is_alphanumeric() || character == '_');
            is_word && opens_code(&line[at + KEYWORD.len()..])
        })
    })
}

const KEYWORD: &str = "unsafe";

fn opens_code(rest: &str) -> bool {
    let follows = ["{", "(", "fn ", "impl", "trait ", "extern "];
    let rest = rest.trim();
    rest.is_empty() || follows.iter().any(|code| rest.starts_with(code))
}

#[cfg(test)]
mod tests {
    use super::{KEYWORD, has_unsafe};

    #[test]
    fn the_keyword_before_code_counts() {
        for code in [
            "    let x = KEYWORD { call() };",
            "pub KEYWORD fn f() {}",
            "KEYWORD impl<T> Send for S<T> {}",
            "x = KEYWORD",
        ] {
            assert!(has_unsafe(&code.replace("KEYWORD", KEYWORD)), "{code}");
        }
    }

    #[test]
    fn the_keyword_in_a_comment_or_a_name_does_not_count() {
        for harmless in
            ["//! No KEYWORD { } here.", "#![deny(KEYWORD_code)]", "fn KEYWORD_files() {}", "\"KEYWORD\""]
        {
            assert!(!has_unsafe(&harmless.replace("KEYWORD", KEYWORD)), "{harmless}");
        }
    }
}
