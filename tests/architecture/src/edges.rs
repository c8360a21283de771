//! The edges that exist against the edges that are allowed.

use std::collections::BTreeSet;

use crate::picture::Picture;
use crate::workspace::Package;

/// One sentence per edge or package that the picture lacks, and per package that only the picture has.
///
/// An allowed edge that nobody uses is no violation: the picture says what may be, not what is.
#[must_use]
pub fn violations(picture: &Picture, packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let Some(allowed) = picture.edges.get(&package.name) else {
            found.push(format!("`{}` has no line in the block `edges`", package.name));
            continue;
        };
        let lacking = package.dependencies.difference(allowed);
        found.extend(
            lacking.map(|dependency| format!("the edge `{} -> {dependency}` is not allowed", package.name)),
        );
    }
    let existing: BTreeSet<&String> = packages.iter().map(|package| &package.name).collect();
    let named = picture.edges.iter().flat_map(|(package, dependencies)| dependencies.iter().chain([package]));
    let unknown: BTreeSet<&String> = named.filter(|name| !existing.contains(name)).collect();
    found
        .extend(unknown.iter().map(|name| format!("the block `edges` names `{name}`, which does not exist")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            folder: name.into(),
            dependencies: dependencies.iter().map(|&dependency| dependency.to_owned()).collect(),
        }
    }

    fn picture(edges: &str) -> Picture {
        Picture::parse(&format!("```edges\n{edges}\n```\n```unsafe\n```\n"))
            .expect("the document is well-formed")
    }

    #[test]
    fn an_allowed_edge_may_exist_or_not() {
        let packages = [package("hub", &[]), package("gateway", &["hub"])];
        assert!(violations(&picture("hub\ngateway -> hub"), &packages).is_empty());
        assert!(violations(&picture("hub -> gateway\ngateway -> hub"), &packages).is_empty());
    }

    #[test]
    fn an_edge_that_the_picture_lacks_is_named() {
        let packages = [package("hub", &["gateway"]), package("gateway", &[])];
        assert_eq!(
            violations(&picture("hub\ngateway -> hub"), &packages),
            ["the edge `hub -> gateway` is not allowed"]
        );
    }

    #[test]
    fn a_package_needs_a_line_and_a_line_a_package() {
        assert_eq!(violations(&picture("hub"), &[package("hub", &[]), package("utils", &[])]).len(), 1);
        assert_eq!(violations(&picture("hub\nutils"), &[package("hub", &[])]).len(), 1);
    }
}
