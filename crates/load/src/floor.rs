//! The performance floor of this machine, measured by the `floor` program that is installed beside this one: raw TCP
//! pairs, fixed bytes, no parsing. Whatever a run costs above it is due to the server or the generator.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Why the floor could not be measured.
#[derive(Debug)]
pub enum FloorError {
    /// The program is neither beside this program nor on the path.
    NotFound,
    /// The program could not be started.
    Start(PathBuf, io::Error),
    /// The program failed; holds its standard error.
    Failed(String),
    /// The program's output is not a valid report.
    Report(serde_json::Error),
}

impl fmt::Display for FloorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str(
                "the program `floor` is neither next to stampede nor on PATH; build it with `cargo build \
                 --release --package floor` and copy it there",
            ),
            Self::Start(program, error) => write!(f, "cannot start {}: {error}", program.display()),
            Self::Failed(said) => write!(f, "measuring the floor failed: {}", said.trim()),
            Self::Report(error) => write!(f, "cannot read the report of the floor program: {error}"),
        }
    }
}

impl std::error::Error for FloorError {}

/// Measures with `connections` pairs and returns the program's own table.
///
/// # Errors
/// A [`FloorError`].
pub fn table(connections: usize) -> Result<String, FloorError> {
    Ok(String::from_utf8_lossy(&run(connections, &[])?.stdout).into_owned())
}

/// Measures with `connections` pairs and returns the program's report.
///
/// # Errors
/// A [`FloorError`].
pub fn report(connections: usize) -> Result<Value, FloorError> {
    serde_json::from_slice(&run(connections, &["--json"])?.stdout).map_err(FloorError::Report)
}

/// Prefix of the names of the floor's figures among a machine's facts.
pub const FACT: &str = "floor: ";

/// The figures of a report against which a run is compared, as machine facts: name, and value with its unit.
#[must_use]
pub fn facts(report: &Value) -> Vec<(String, String)> {
    const FIGURES: [(&str, &str, &str); 6] = [
        ("connects", "/connect/connections_per_second", "/s"),
        ("kernel memory of a pair", "/kernel_bytes_per_pair", "bytes"),
        ("broadcast, CPU per delivery", "/broadcast/server_cpu_us_per_delivery", "µs"),
        ("broadcast, last receiver", "/broadcast/last_receiver_ms_median", "ms"),
        ("echoes, 1 in flight", "/echo/echoes_per_second", "/s"),
        ("echoes, 16 in flight", "/echo_in_flight/echoes_per_second", "/s"),
    ];
    let known = FIGURES.into_iter().filter_map(|(name, pointer, unit)| {
        let value = report.pointer(pointer)?.as_f64()?;
        Some((format!("{FACT}{name}"), format!("{value:.1} {unit}")))
    });
    known.collect()
}

fn run(connections: usize, flags: &[&str]) -> Result<Output, FloorError> {
    let program = find().ok_or(FloorError::NotFound)?;
    let output = Command::new(&program)
        .args(["run", "--connections", &connections.to_string()])
        .args(flags)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| FloorError::Start(program, error))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(FloorError::Failed(String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn find() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join("floor")).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::facts;
    use serde_json::json;

    #[test]
    fn the_figures_of_a_report_become_facts_and_what_is_missing_is_left_out() {
        let report = json!({"connect": {"connections_per_second": 25000.04}, "kernel_bytes_per_pair": null});
        assert_eq!(facts(&report), [("floor: connects".to_owned(), "25000.0 /s".to_owned())]);
    }
}
