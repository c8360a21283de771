//! Finds the built dashboard (`web/dist-lab`) for `src/live/dashboard/page.rs`. Without it the binary still builds, and
//! the dashboard says how to build its page.

use std::path::Path;

const PAGE: &str = "../../web/dist-lab/lab.html";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(page_is_built)");
    // A path that does not exist makes Cargo look again in every build, which is how a page built later is found.
    println!("cargo::rerun-if-changed={PAGE}");
    if Path::new(PAGE).is_file() {
        println!("cargo::rustc-cfg=page_is_built");
    }
}
