//! Renders a chart as PNG with the fonts of the machine.

use std::fmt;
use std::sync::Arc;

use resvg::{tiny_skia, usvg};

/// Pixels of the PNG per pixel of the SVG, so that it is sharp on high-density screens and in print.
const SCALE: f32 = 2.0;

/// Font families in order of preference; if none is installed, any font is used.
const FAMILIES: [&str; 6] = ["Inter", "Noto Sans", "DejaVu Sans", "Liberation Sans", "Roboto", "Arial"];

/// The fonts of this machine. Finding them is slow, so they are loaded once for many charts.
pub struct Fonts {
    database: Arc<usvg::fontdb::Database>,
}

/// The machine has no fonts, so a PNG would have no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoFonts;

/// Why a chart could not be rendered as PNG.
#[derive(Debug)]
pub enum RasterError {
    /// The SVG could not be parsed.
    Svg(usvg::Error),
    /// The picture has no area.
    Size,
    /// The pixels could not be encoded.
    Encode(String),
}

impl Fonts {
    /// Loads the fonts from the system's directories.
    ///
    /// # Errors
    /// [`NoFonts`] if there are none.
    pub fn of_system() -> Result<Self, NoFonts> {
        let mut database = usvg::fontdb::Database::new();
        database.load_system_fonts();
        let names: Vec<&str> =
            database.faces().flat_map(|face| &face.families).map(|family| family.0.as_str()).collect();
        let known = FAMILIES.iter().find(|family| names.contains(*family)).copied();
        let family = known.or(names.first().copied()).ok_or(NoFonts)?.to_owned();
        database.set_sans_serif_family(family);
        Ok(Self { database: Arc::new(database) })
    }

    /// Renders an SVG file's content as PNG.
    ///
    /// # Errors
    /// [`RasterError`] if the SVG is invalid or has no area.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, RasterError> {
        let options = usvg::Options {
            fontdb: Arc::clone(&self.database),
            font_family: "sans-serif".to_owned(),
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(svg, &options).map_err(RasterError::Svg)?;
        let size = tree.size().to_int_size().scale_by(SCALE).ok_or(RasterError::Size)?;
        let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).ok_or(RasterError::Size)?;
        let transform = tiny_skia::Transform::from_scale(SCALE, SCALE);
        resvg::render(&tree, transform, &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| RasterError::Encode(error.to_string()))
    }
}

impl fmt::Display for NoFonts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "no font was found, so no PNG was written (the SVG has all of it); install one, on Debian and Ubuntu \
             `apt install fonts-dejavu-core`, on Fedora `dnf install dejavu-sans-fonts`, on Alpine `apk add \
             font-dejavu`, and run `stampede report` on the folder again",
        )
    }
}

impl std::error::Error for NoFonts {}

impl fmt::Display for RasterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Svg(error) => write!(formatter, "the SVG cannot be drawn: {error}"),
            Self::Size => formatter.write_str("the SVG has no area"),
            Self::Encode(error) => write!(formatter, "the PNG cannot be encoded: {error}"),
        }
    }
}

impl std::error::Error for RasterError {}
