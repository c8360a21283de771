//! The blocks of ARCHITECTURE.md that a program reads.

use std::collections::{BTreeMap, BTreeSet};

/// What ARCHITECTURE.md allows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Each package of ours, with the packages of ours that it may depend on.
    pub edges: BTreeMap<String, BTreeSet<String>>,
    /// The files that may contain `unsafe`, relative to the root of the repository.
    pub unsafe_files: BTreeSet<String>,
}

impl Picture {
    /// Reads the fenced blocks ```` ```edges ```` and ```` ```unsafe ````.
    ///
    /// An edge is a line `package -> dependency dependency …`, and a package that may depend on nothing of ours a line
    /// `package`. A file with `unsafe` is a line with its path.
    ///
    /// # Errors
    /// Says which block is missing or which package is listed twice.
    pub fn parse(document: &str) -> Result<Self, String> {
        let mut picture = Self::default();
        for line in block(document, "edges")? {
            let (package, dependencies) = line.split_once("->").unwrap_or((line, ""));
            let dependencies = dependencies.split_whitespace().map(str::to_owned).collect();
            if picture.edges.insert(package.trim().to_owned(), dependencies).is_some() {
                return Err(format!("`{}` has two lines in the block `edges`", package.trim()));
            }
        }
        picture.unsafe_files = block(document, "unsafe")?.into_iter().map(str::to_owned).collect();
        Ok(picture)
    }
}

/// The lines of the fenced block called `name`, trimmed, without empty ones.
fn block<'a>(document: &'a str, name: &str) -> Result<Vec<&'a str>, String> {
    let mut lines = document.lines().map(str::trim);
    let opening = format!("```{name}");
    if !lines.any(|line| line == opening) {
        return Err(format!("ARCHITECTURE.md has no block `{opening}`"));
    }
    Ok(lines.take_while(|line| *line != "```").filter(|line| !line.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Title\n```edges\nhub -> proto\ngateway -> engine hub\n\nproto\n```\nText\n```unsafe\na/b.rs\n```\n";

    #[test]
    fn both_blocks_are_read() {
        let picture = Picture::parse(DOCUMENT).expect("the document is well-formed");
        assert_eq!(picture.edges["hub"], BTreeSet::from(["proto".to_owned()]));
        assert_eq!(picture.edges["gateway"].len(), 2);
        assert!(picture.edges["proto"].is_empty());
        assert_eq!(picture.unsafe_files, BTreeSet::from(["a/b.rs".to_owned()]));
    }

    #[test]
    fn a_document_without_a_block_is_an_error() {
        assert!(Picture::parse("# Title\n```edges\nproto\n```\n").is_err());
    }

    #[test]
    fn a_package_that_is_listed_twice_is_an_error() {
        assert!(Picture::parse(&DOCUMENT.replace("gateway", "hub")).is_err());
    }
}
