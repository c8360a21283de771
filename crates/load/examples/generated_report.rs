//! Writes the reports of generated runs into a directory for inspection: `cargo run --example generated_report -- DIR`.

#[path = "../tests/report/generated.rs"]
mod generated;

use std::error::Error;
use std::path::PathBuf;

use generated::Shape;
use load::report::{self, Run, Style, Tolerance};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder?")?);
    let crowd = generated::run(&Shape {
        name: "crowd of 10,000",
        seed: 7,
        seconds: 300,
        users: 10_000,
        median_us: 2_500.0,
        sigma: 0.6,
        lost: 20,
    });
    report::write(&folder.join("one"), &crowd)?;

    let mut invalid = Run { configuration: "nothing measured".to_owned(), ..Run::default() };
    invalid.summary.verdict.reasons =
        vec!["Send lag p99 was 214 ms: the generator was the limit.".to_owned()];
    report::write(&folder.join("nothing"), &invalid)?;

    let loads = [
        ("50 clients", 9e3),
        ("80 clients", 6e4),
        ("90 clients", 9e5),
        ("100 clients", 2.6e6),
        ("110 clients", 5e6),
    ];
    let runs: Vec<Run> = loads
        .iter()
        .enumerate()
        .map(|(index, (name, median_us))| {
            let lost = [0, 10, 400, 3_000, 20_000][index];
            let seed = index as u64;
            generated::run(&Shape {
                name,
                seed,
                seconds: 60,
                users: 100,
                median_us: *median_us,
                sigma: 0.7,
                lost,
            })
        })
        .collect();
    report::write_configurations(&folder.join("several"), &runs)?;

    let slower = generated::run(&Shape {
        name: "crowd of 10,000, another build",
        seed: 8,
        seconds: 300,
        users: 10_000,
        median_us: 2_900.0,
        sigma: 0.6,
        lost: 20,
    });
    std::fs::write(folder.join("terminal.txt"), report::text(&crowd, Style::Plain))?;
    std::fs::write(
        folder.join("compare.txt"),
        report::compare(&crowd, &slower, Tolerance::default()).text(),
    )?;
    Ok(())
}
