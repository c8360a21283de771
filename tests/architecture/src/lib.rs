//! Compares the workspace with what ARCHITECTURE.md allows.
//!
//! It owns the reading of that document's machine-readable blocks, of `cargo metadata`, and of our Rust sources. The
//! document is the source of every rule: nothing here may name a crate or a file of ours.

mod edges;
mod picture;
mod sources;
mod workspace;

pub use edges::violations as edge_violations;
pub use picture::Picture;
pub use sources::unsafe_files;
pub use workspace::{Package, Workspace};
