//! What surrounds the data of every chart: heading, legend, axes, grid. Each row reserves its own height, so nothing
//! overlaps.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, shortened, text_width};
use super::geometry::{Place, Size};

/// Default text size in pixels.
pub(super) const TEXT: f64 = 12.0;
const ROW: f64 = 18.0;
const MARGIN: f64 = 10.0;

/// The symbol of a legend entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Swatch {
    Line,
    Dashes,
    Area,
    Dot,
}

/// One entry of a legend.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) colour: &'static str,
    pub(super) swatch: Swatch,
}

/// What the frame needs to know before the data is drawn.
pub(super) struct Surroundings<'a> {
    pub(super) title: &'a str,
    pub(super) note: &'a str,
    pub(super) legend: Vec<Entry>,
    /// Title of the vertical axis.
    pub(super) vertical: &'a str,
    /// Title of the horizontal axis; empty for categories.
    pub(super) horizontal: &'a str,
    pub(super) size: Size,
    pub(super) place: Place,
}

/// The plot area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// Draws the frame of a chart with two numeric axes.
    pub(super) fn with_axes(canvas: &mut Canvas, around: &Surroundings<'_>, x: &Axis, y: &Axis) -> Self {
        let mut frame = Self::begin(canvas, around, y);
        frame.bottom -= ROW + if around.horizontal.is_empty() { 3.0 } else { ROW + 1.0 };
        frame.horizontal_grid(canvas, y);
        frame.vertical_ticks(canvas, x);
        let middle = f64::midpoint(frame.left, frame.right);
        canvas.text("name", (middle, frame.bottom + 2.0 * ROW), Anchor::Middle, around.horizontal);
        frame
    }

    /// Draws the frame of a chart with one slot per name; returns the centres and the width of the slots.
    pub(super) fn with_slots(
        canvas: &mut Canvas,
        around: &Surroundings<'_>,
        names: &[&str],
        y: &Axis,
    ) -> (Self, Vec<f64>, f64) {
        let mut frame = Self::begin(canvas, around, y);
        let slot = (frame.right - frame.left) / names.len().max(1) as f64;
        let widest = names.iter().map(|name| text_width(name, TEXT)).fold(0.0, f64::max);
        let level = widest <= slot - 6.0;
        let room = if level { ROW } else { (widest.min(150.0) * 0.5 + ROW).min(95.0) };
        frame.bottom -= room;
        frame.horizontal_grid(canvas, y);
        let middles: Vec<f64> =
            (0..names.len()).map(|index| frame.left + slot * (index as f64 + 0.5)).collect();
        for (name, middle) in names.iter().zip(&middles) {
            if level {
                canvas.text("name", (*middle, frame.bottom + ROW - 4.0), Anchor::Middle, name);
            } else {
                // A slanted name near the left edge must not leave the picture.
                let fits = ((*middle - 4.0) / 0.87).min(150.0);
                canvas.rising_text("name", (middle + 4.0, frame.bottom + 14.0), &shortened(name, TEXT, fits));
            }
        }
        (frame, middles, slot)
    }

    /// Draws the heading, the legend and the axis titles, and reserves their space at the top and the sides.
    fn begin(canvas: &mut Canvas, around: &Surroundings<'_>, y: &Axis) -> Self {
        let (width, height) = (around.size.width, around.size.height);
        let mut top = heading(canvas, around);
        top = legend(canvas, &around.legend, top, width);
        canvas.text("name", (2.0, top + 12.0), Anchor::Start, &vertical_name(around.vertical, y));
        top += ROW + 9.0;
        let labels = y.ticks.iter().map(|(_, label)| text_width(label, TEXT)).fold(16.0, f64::max);
        Self { left: labels + 10.0, top, right: width - MARGIN - 8.0, bottom: height - 6.0 }
    }

    fn horizontal_grid(&self, canvas: &mut Canvas, y: &Axis) {
        for (value, label) in &y.ticks {
            let place = self.y(y, *value);
            let class = if y.position(*value) == 0.0 { "axis" } else { "grid" };
            canvas.line(class, (self.left, place), (self.right, place));
            canvas.text("tick", (self.left - 7.0, place + 4.0), Anchor::End, label);
        }
    }

    /// Draws the ticks below the plot; a label that would touch the previous one is omitted, its tick is kept.
    fn vertical_ticks(&self, canvas: &mut Canvas, x: &Axis) {
        let mut free_from = f64::NEG_INFINITY;
        for (value, label) in &x.ticks {
            let place = self.x(x, *value);
            canvas.line("axis", (place, self.bottom), (place, self.bottom + 4.0));
            let half = text_width(label, TEXT) / 2.0;
            if place - half < free_from {
                continue;
            }
            let middle = place.min(self.right + MARGIN + 8.0 - half);
            canvas.text("tick", (middle, self.bottom + ROW + 1.0), Anchor::Middle, label);
            free_from = place + half + 8.0;
        }
    }

    pub(super) fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + axis.position(value) * (self.right - self.left)
    }

    pub(super) fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.bottom - axis.position(value) * (self.bottom - self.top)
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }
}

/// Draws a placeholder that says that there is no data, and why.
pub(super) fn nothing(canvas: &mut Canvas, around: &Surroundings<'_>, why: &str) {
    let top = heading(canvas, around);
    let middle = (around.size.width / 2.0, f64::midpoint(top, around.size.height));
    let why = shortened(why, 13.0, around.size.width - 2.0 * MARGIN);
    canvas.text("empty", middle, Anchor::Middle, &why);
}

/// Draws the heading, except in a page, where the heading is text of the page.
fn heading(canvas: &mut Canvas, around: &Surroundings<'_>) -> f64 {
    let mut top = 4.0;
    if around.place == Place::Page {
        return top;
    }
    let room = around.size.width - 2.0 * MARGIN;
    canvas.text("title", (2.0, top + 15.0), Anchor::Start, &shortened(around.title, 15.5, room));
    top += 24.0;
    for line in wrapped(around.note, room) {
        canvas.text("name", (2.0, top + 12.0), Anchor::Start, &line);
        top += ROW - 1.0;
    }
    top + 2.0
}

/// Draws the entries from the left, in as many rows as they need; returns the bottom of the last row.
fn legend(canvas: &mut Canvas, entries: &[Entry], top: f64, width: f64) -> f64 {
    if entries.is_empty() {
        return top;
    }
    let (mut left, mut top) = (2.0, top);
    for entry in entries {
        let name = shortened(&entry.name, TEXT, width - 40.0);
        let needed = 28.0 + text_width(&name, TEXT);
        if left > 2.0 && left + needed > width {
            (left, top) = (2.0, top + ROW);
        }
        swatch(canvas, entry, (left, top + 8.0));
        canvas.text("legend", (left + 23.0, top + 12.0), Anchor::Start, &name);
        left += needed + 10.0;
    }
    top + ROW + 2.0
}

fn swatch(canvas: &mut Canvas, entry: &Entry, (left, middle): (f64, f64)) {
    let (name, ends) = (entry.colour, ((left + 1.0, middle), (left + 17.0, middle)));
    match entry.swatch {
        Swatch::Line => canvas.line(&format!("line-{name}"), ends.0, ends.1),
        Swatch::Dashes => canvas.line(&format!("dash-{name}"), ends.0, ends.1),
        Swatch::Area => canvas.rectangle(&format!("fill-{name}"), (left + 3.0, middle - 5.0), 11.0, 11.0),
        Swatch::Dot => canvas.circle(&format!("dot-{name}"), (left + 9.0, middle), 4.5),
    }
}

fn vertical_name(name: &str, axis: &Axis) -> String {
    if axis.is_logarithmic() { format!("{name} (logarithmic)") } else { name.to_owned() }
}

/// Breaks a text at spaces into at most three lines, each of which fits into `room` pixels.
fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, TEXT) + text_width(word, TEXT) + 5.0 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    if lines.len() > 3 {
        let rest = lines.split_off(2).join(" ");
        lines.push(shortened(&rest, TEXT, room));
    }
    lines
}
