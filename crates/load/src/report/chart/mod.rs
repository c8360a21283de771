//! Charts: SVG in one style, generated from numbers alone.
//!
//! Owns axes, layout, colours and the kinds of charts. It never knows what a run is, never reads a file, and never
//! draws a value that was not measured: if a line has more points than the picture has columns, the extremes are kept.

mod axis;
mod bands;
mod bars;
mod boxes;
mod canvas;
mod frame;
mod geometry;
mod histogram;
mod hover;
mod lines;
mod means;
mod percentiles;
mod raster;
mod scale;
mod scatter;
mod theme;
mod thin;
mod unit;

pub use bands::{Bands, Moment};
pub use bars::{Bars, Group, Tone};
pub use boxes::{Boxes, PercentileBox};
pub use canvas::escape;
pub use geometry::{Place, Size};
pub use histogram::{Bin, Histogram};
pub use lines::{Lines, Series};
pub use means::{Mean, Means};
pub use percentiles::{Curve, Percentiles};
pub use raster::{Fonts, NoFonts, RasterError};
pub use scatter::{Cloud, Scatter};
pub use theme::{by_variables, variables};
pub use unit::{Unit, grouped};

use canvas::Canvas;
use frame::{Entry, Surroundings};
use hover::Hover;

/// A chart: data and the text around it.
#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    /// Title, a few words.
    pub title: String,
    /// What a reader must know to read the chart correctly; may be empty.
    pub note: String,
    /// Title of the vertical axis.
    pub vertical: String,
    /// Title of the horizontal axis; empty if it has only names.
    pub horizontal: String,
    /// The text shown instead of the picture when there is no data.
    pub empty: String,
    /// The data.
    pub figure: Figure,
}

/// The kinds of charts.
#[derive(Clone, PartialEq, Debug)]
pub enum Figure {
    /// Several series over time.
    Lines(Lines),
    /// Percentiles over time.
    Bands(Bands),
    /// Values by percentile; each further nine has the same width.
    Percentiles(Percentiles),
    /// A histogram.
    Histogram(Histogram),
    /// Percentiles per configuration.
    Boxes(Boxes),
    /// Mean ± standard deviation per configuration.
    Means(Means),
    /// Grouped and stacked bars.
    Bars(Bars),
    /// Points, and a fitted straight line.
    Scatter(Scatter),
}

impl Chart {
    /// Returns whether there is no data to show.
    pub fn is_empty(&self) -> bool {
        match &self.figure {
            Figure::Lines(lines) => lines.is_empty(),
            Figure::Bands(bands) => bands.is_empty(),
            Figure::Percentiles(percentiles) => percentiles.is_empty(),
            Figure::Histogram(histogram) => histogram.is_empty(),
            Figure::Boxes(boxes) => boxes.is_empty(),
            Figure::Means(means) => means.is_empty(),
            Figure::Bars(bars) => bars.is_empty(),
            Figure::Scatter(scatter) => scatter.is_empty(),
        }
    }

    /// Renders the chart as an `<svg>` element.
    pub fn svg(&self, size: Size, place: Place) -> String {
        let mut canvas = Canvas::default();
        let around = Surroundings {
            title: &self.title,
            note: &self.note,
            legend: self.legend(),
            vertical: &self.vertical,
            horizontal: &self.horizontal,
            size,
            place,
        };
        let hover = if self.is_empty() {
            frame::nothing(&mut canvas, &around, &self.empty);
            None
        } else {
            self.draw(&mut canvas, &around)
        };
        self.element(size, place, hover, &canvas.into_body())
    }

    fn legend(&self) -> Vec<Entry> {
        match &self.figure {
            Figure::Lines(lines) => lines.legend(),
            Figure::Bands(_) => Bands::legend(),
            Figure::Percentiles(percentiles) => percentiles.legend(),
            Figure::Boxes(boxes) => boxes.legend(),
            Figure::Bars(bars) => bars.legend(),
            Figure::Scatter(scatter) => scatter.legend(),
            Figure::Histogram(_) | Figure::Means(_) => Vec::new(),
        }
    }

    fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) -> Option<Hover> {
        match &self.figure {
            Figure::Lines(lines) => return Some(lines.draw(canvas, around)),
            Figure::Bands(bands) => return Some(bands.draw(canvas, around)),
            Figure::Percentiles(percentiles) => percentiles.draw(canvas, around),
            Figure::Histogram(histogram) => histogram.draw(canvas, around),
            Figure::Boxes(boxes) => boxes.draw(canvas, around),
            Figure::Means(means) => means.draw(canvas, around),
            Figure::Bars(bars) => bars.draw(canvas, around),
            Figure::Scatter(scatter) => scatter.draw(canvas, around),
        }
        None
    }

    fn element(&self, size: Size, place: Place, hover: Option<Hover>, body: &str) -> String {
        let (width, height, title) = (size.width, size.height, escape(&self.title));
        let view = format!(r#"viewBox="0 0 {width} {height}" role="img" aria-label="{title}""#);
        match place {
            Place::Page => {
                let hover = hover.map(Hover::attribute).unwrap_or_default();
                format!("<svg class=\"chart\" {view}{hover}>\n{body}</svg>\n")
            }
            // Viewers and converters of SVG files expect a width and height besides the view box, and a white margin.
            Place::Alone => format!(
                "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{full_width}\" \
                 height=\"{full_height}\" viewBox=\"-12 -10 {full_width} {full_height}\" role=\"img\" \
                 aria-label=\"{title}\">\n<title>{title}</title>\n<style>\n{style}</style>\n\
                 <rect class=\"ground\" x=\"-12\" y=\"-10\" width=\"{full_width}\" height=\"{full_height}\"/>\n\
                 {body}</svg>\n",
                full_width = width + 24.0,
                full_height = height + 20.0,
                style = theme::fixed(),
            ),
        }
    }
}
