//! Writes SVG: elements, coordinates with one decimal, text that is always escaped.

use std::fmt::Write as _;

/// Escapes text for use between tags and in quoted attributes of XML and HTML. Characters that XML 1.0 forbids (section
/// 2.2) are replaced with the replacement character.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Which point of a text is placed at its coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// The points of a line, in order.
pub(super) type Points = Vec<(f64, f64)>;

/// The body of an SVG under construction.
#[derive(Default)]
pub(super) struct Canvas {
    body: String,
}

impl Canvas {
    pub(super) fn into_body(self) -> String {
        self.body
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (number(from.0), number(from.1), number(to.0), number(to.1));
        self.push(&format!(r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#));
    }

    pub(super) fn rectangle(&mut self, class: &str, corner: (f64, f64), width: f64, height: f64) {
        let (x, y) = (number(corner.0), number(corner.1));
        let (width, height) = (number(width.max(0.0)), number(height.max(0.0)));
        self.push(&format!(r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#));
    }

    pub(super) fn circle(&mut self, class: &str, centre: (f64, f64), radius: f64) {
        let (x, y) = (number(centre.0), number(centre.1));
        self.push(&format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="{}"/>"#, number(radius)));
    }

    /// Draws a line through the points of each piece; the pieces are not joined.
    pub(super) fn path(&mut self, class: &str, pieces: &[Points]) {
        let mut data = String::new();
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            append(&mut data, piece);
            if let [only] = piece.as_slice() {
                // A single point has no length; a round cap makes it a dot.
                let _ = write!(data, "L{} {}", number(only.0), number(only.1));
            }
        }
        self.push(&format!(r#"<path class="{class}" d="{data}"/>"#));
    }

    /// Fills the area between an upper and a lower edge of each piece.
    pub(super) fn area(&mut self, class: &str, pieces: &[(Points, Points)]) {
        let mut data = String::new();
        for (upper, lower) in pieces.iter().filter(|(upper, _)| !upper.is_empty()) {
            let outline: Points = upper.iter().chain(lower.iter().rev()).copied().collect();
            append(&mut data, &outline);
            data.push('Z');
        }
        self.push(&format!(r#"<path class="{class}" d="{data}"/>"#));
    }

    pub(super) fn text(&mut self, class: &str, place: (f64, f64), anchor: Anchor, text: &str) {
        let (x, y, anchor) = (number(place.0), number(place.1), anchor.name());
        let text = escape(text);
        self.push(&format!(r#"<text class="{class}" x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>"#));
    }

    /// Draws text that slopes upwards and ends at `place`.
    pub(super) fn rising_text(&mut self, class: &str, place: (f64, f64), text: &str) {
        let (x, y) = (number(place.0), number(place.1));
        let text = escape(text);
        let turn = format!(r#"transform="rotate(-30 {x} {y})""#);
        self.push(&format!(
            r#"<text class="{class}" x="{x}" y="{y}" text-anchor="end" {turn}>{text}</text>"#
        ));
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

/// Estimates how wide a text is at `size` pixels, erring on the wide side: the browser's font is not known here.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let widths = text.chars().map(|character| match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.33,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '-' | '/' | '[' | ']' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '–' | '…' => 0.98,
        'A'..='Z' => 0.72,
        '\u{1100}'.. => 1.05,
        _ => 0.63,
    });
    widths.sum::<f64>() * size
}

/// Returns the text, or the part of its start that fits into `width` pixels, with an ellipsis.
pub(super) fn shortened(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = text_width("…", size);
    for character in text.chars() {
        used += text_width(character.encode_utf8(&mut [0; 4]), size);
        if used > width {
            break;
        }
        short.push(character);
    }
    format!("{}…", short.trim_end())
}

fn append(data: &mut String, points: &[(f64, f64)]) {
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{command}{} {}", number(*x), number(*y));
    }
}

/// Formats a number with one decimal; a value that is not finite becomes 0 instead of breaking the picture.
fn number(value: f64) -> String {
    let rounded = if value.is_finite() { (value * 10.0).round() / 10.0 } else { 0.0 };
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_forbidden_characters_are_replaced() {
        assert_eq!(escape("<a b=\"c\">&'\u{1}\n"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{fffd}\n");
    }

    #[test]
    fn what_is_not_a_number_leaves_no_trace() {
        let mut canvas = Canvas::default();
        canvas.line("grid", (f64::NAN, 1.0), (f64::INFINITY, 2.25));
        let body = canvas.into_body();
        assert!(!body.contains("NaN") && !body.contains("inf"), "{body}");
    }

    #[test]
    fn long_text_ends_in_an_ellipsis_and_fits() {
        let short = shortened("a configuration with a long name", 12.0, 80.0);
        assert!(short.ends_with('…') && text_width(&short, 12.0) <= 80.0, "{short}");
        assert_eq!(shortened("short", 12.0, 80.0), "short");
    }
}
