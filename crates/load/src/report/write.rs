//! Writes the files of a report.

use std::fmt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use super::chart::{Fonts, NoFonts, Place, RasterError, Size};
use super::{Plot, Run, html, plots};

/// The directory of a run's plots.
const PLOTS: &str = "plots";

/// Why a report could not be written completely.
#[derive(Debug)]
pub enum ReportError {
    /// A file or directory could not be written.
    File {
        /// Its path.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// A plot could not be rendered as PNG.
    Plot {
        /// Its name.
        name: &'static str,
        /// The cause.
        error: RasterError,
    },
    /// The machine has no fonts: everything was written except the PNGs.
    NoFonts {
        /// The files that were written.
        written: Vec<PathBuf>,
    },
}

/// Writes `report.html`, `plots/*.svg` and `plots/*.png` into `folder`, and returns their paths. Charts without data
/// have no file.
///
/// # Errors
/// [`ReportError`] if a file could not be written; with [`ReportError::NoFonts`], everything but the PNGs was written.
pub fn write(folder: &Path, run: &Run) -> Result<Vec<PathBuf>, ReportError> {
    write_all(folder, &html(run), &plots(run))
}

/// Writes a page and its plots.
pub(super) fn write_all(folder: &Path, page: &str, plots: &[Plot]) -> Result<Vec<PathBuf>, ReportError> {
    let pictures = folder.join(PLOTS);
    std::fs::create_dir_all(&pictures)
        .map_err(|error| ReportError::File { path: pictures.clone(), error })?;
    let mut written = vec![file(folder.join("report.html"), page.as_bytes())?];
    let drawn: Vec<(&'static str, String)> = plots
        .iter()
        .filter(|plot| !plot.chart.is_empty())
        .map(|plot| (plot.name, plot.chart.svg(Size::ALONE, Place::Alone)))
        .collect();
    for (name, svg) in &drawn {
        written.push(file(pictures.join(format!("{name}.svg")), svg.as_bytes())?);
    }
    let Ok(fonts) = Fonts::of_system() else { return Err(ReportError::NoFonts { written }) };
    for path in pngs(&fonts, &pictures, &drawn) {
        written.push(path?);
    }
    Ok(written)
}

/// Renders the PNGs, each on its own thread: they are few, and rendering is CPU-bound.
fn pngs(fonts: &Fonts, folder: &Path, drawn: &[(&'static str, String)]) -> Vec<Result<PathBuf, ReportError>> {
    let draw = |name: &'static str, svg: &str| {
        let png = fonts.png(svg).map_err(|error| ReportError::Plot { name, error })?;
        file(folder.join(format!("{name}.png")), &png)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = drawn.iter().map(|(name, svg)| scope.spawn(move || draw(name, svg))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

fn file(path: PathBuf, content: &[u8]) -> Result<PathBuf, ReportError> {
    match std::fs::write(&path, content) {
        Ok(()) => Ok(path),
        Err(error) => Err(ReportError::File { path, error }),
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(formatter, "{} cannot be written: {error}", path.display()),
            Self::Plot { name, error } => write!(formatter, "the plot {name}: {error}"),
            Self::NoFonts { .. } => NoFonts.fmt(formatter),
        }
    }
}

impl std::error::Error for ReportError {}
