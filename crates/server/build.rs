//! Embeds the built page (`web/dist`) into the binary: writes a table of its files for `src/page.rs`. Without a built
//! page the table is empty and the server explains how to build it.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let page = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("../../web/dist");
    // A path that does not exist makes Cargo run this in every build, which is how a page built later is found.
    println!("cargo::rerun-if-changed={}", page.display());

    let mut files = Vec::new();
    if page.is_dir() {
        collect(&page, &mut files)?;
    }
    files.sort();
    let mut table = String::from("static ASSETS: &[Asset] = &[\n");
    for file in &files {
        let path = file.strip_prefix(&page).map_err(io::Error::other)?.to_str().ok_or_else(not_unicode)?;
        let mut hasher = DefaultHasher::new();
        fs::read(file)?.hash(&mut hasher);
        let (etag, absolute) = (format!("\"{:016x}\"", hasher.finish()), file.canonicalize()?);
        let absolute = absolute.to_str().ok_or_else(not_unicode)?;
        let _ = writeln!(
            table,
            "    Asset {{ path: {:?}, etag: {etag:?}, bytes: include_bytes!({absolute:?}) }},",
            format!("/{path}")
        );
    }
    table.push_str("];\n");
    fs::write(PathBuf::from(variable("OUT_DIR")?).join("assets.rs"), table)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}

fn not_unicode() -> io::Error {
    io::Error::other("a path of the page is not UTF-8")
}
