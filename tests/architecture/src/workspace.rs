//! What cargo knows of the workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The packages of the workspace.
#[derive(Debug)]
pub struct Workspace {
    /// The folder of the workspace's manifest.
    pub root: PathBuf,
    /// All members.
    pub packages: Vec<Package>,
}

/// One member of the workspace.
#[derive(Debug)]
pub struct Package {
    /// Its name in its manifest.
    pub name: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// The other packages of this repository that it names, for whatever purpose: code, tests or build scripts.
    pub dependencies: BTreeSet<String>,
}

impl Workspace {
    /// Asks cargo about the workspace that the manifest at `manifest` belongs to.
    ///
    /// # Errors
    /// Says what cargo complained about, or what of its answer could not be read.
    pub fn read(manifest: &Path) -> Result<Self, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
            .arg(manifest)
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        Ok(metadata.into())
    }
}

/// The part of `cargo metadata --format-version 1` that is used here.
#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    packages: Vec<MetadataPackage>,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<MetadataDependency>,
}

#[derive(Deserialize)]
struct MetadataDependency {
    name: String,
    /// Present for what lies in this repository, absent for what comes from a registry.
    path: Option<PathBuf>,
}

impl From<Metadata> for Workspace {
    fn from(metadata: Metadata) -> Self {
        Self {
            root: metadata.workspace_root,
            packages: metadata.packages.into_iter().map(Package::from).collect(),
        }
    }
}

impl From<MetadataPackage> for Package {
    fn from(package: MetadataPackage) -> Self {
        let ours = package.dependencies.into_iter().filter(|dependency| dependency.path.is_some());
        Self {
            folder: package.manifest_path.parent().map(Path::to_owned).unwrap_or_default(),
            dependencies: ours
                .map(|dependency| dependency.name)
                .filter(|name| *name != package.name)
                .collect(),
            name: package.name,
        }
    }
}
