//! Colours and strokes. A chart only names classes; where it is shown decides what they look like: CSS variables (light
//! and dark) in a page, fixed colours on white in a separate file.

/// A colour: its name, its value on white, and its value on a dark background.
type Colour = (&'static str, &'static str, &'static str);

/// Number of colours for series; further series reuse them from the start.
pub(super) const SERIES_COLOURS: usize = 8;

/// Series colours are distinguishable with red-green colour blindness; text and lines have a contrast of at least 3 to
/// their background.
const COLOURS: &[Colour] = &[
    ("ink", "#1d1f24", "#e9e7e2"),
    ("muted", "#5d626d", "#a0a5af"),
    ("grid", "#e8e6e1", "#2b2f37"),
    ("axis", "#a9a69f", "#565c67"),
    ("surface", "#ffffff", "#1b1e24"),
    ("s1", "#2563c9", "#6ea8fe"),
    ("s2", "#d2650a", "#ff9f4a"),
    ("s3", "#0b8a6f", "#45c9b0"),
    ("s4", "#8b45c6", "#c195fa"),
    ("s5", "#c72c60", "#ff82a9"),
    ("s6", "#937000", "#e0b94a"),
    ("s7", "#5b6b82", "#9aa9bf"),
    ("s8", "#08819c", "#52c7e3"),
    ("q1", "#1f5fd0", "#63a5ff"),
    ("q2", "#6a4fd6", "#9c92ff"),
    ("q3", "#a93bc0", "#d48bf5"),
    ("q4", "#cf2f68", "#ff7fa6"),
    ("good", "#0f7553", "#4fcf9b"),
    ("warn", "#a86500", "#f0b04f"),
    ("bad", "#b3261e", "#ff8a80"),
];

/// The style rules of all chart classes; `$name` stands for a colour. Written without CSS variables, so that renderers
/// that lack them can read the result.
const RULES: &str = "\
.chart text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif;font-size:12px;\
fill:$muted}
.chart text.title{font-size:15px;font-weight:600;fill:$ink}
.chart text.value{font-size:11px;fill:$ink}
.chart text.legend{fill:$ink}
.chart text.empty{font-size:13px}
.ground{fill:$surface}
.grid{stroke:$grid;stroke-width:1;fill:none}
.axis{stroke:$axis;stroke-width:1;fill:none}
.limit{stroke:$bad;stroke-width:1;stroke-dasharray:6 3;fill:none}
.mark{stroke:$ink;stroke-width:1.5;fill:none}
.fit{stroke:$ink;stroke-width:1.5;stroke-dasharray:6 4;fill:none}
";

/// Returns the style sheet of a chart in a separate file.
pub(super) fn fixed() -> String {
    with_colours(|(_, light, _)| (*light).to_owned())
}

/// Returns the style sheet of charts in a page that defines [`variables`].
pub fn by_variables() -> String {
    with_colours(|(name, _, _)| format!("var(--{name})"))
}

/// Returns the page's colours as declarations of CSS variables: for a white and for a dark background.
pub fn variables() -> (String, String) {
    let declare = |value: fn(&Colour) -> &'static str| -> String {
        COLOURS.iter().map(|colour| format!("--{}:{};", colour.0, value(colour))).collect()
    };
    (declare(|colour| colour.1), declare(|colour| colour.2))
}

fn with_colours(value: impl Fn(&Colour) -> String) -> String {
    let mut sheet = RULES.to_owned();
    // Longer names first, so that `$s1` is not replaced inside a longer name.
    let mut colours: Vec<&Colour> = COLOURS.iter().collect();
    colours.sort_by_key(|colour| std::cmp::Reverse(colour.0.len()));
    for colour in colours {
        sheet = sheet.replace(&format!("${}", colour.0), &value(colour));
    }
    for colour in COLOURS.iter().skip_while(|colour| colour.0 != "s1") {
        let (name, value) = (colour.0, value(colour));
        sheet.push_str(&format!(
            ".line-{name}{{stroke:{value};stroke-width:2;fill:none;stroke-linejoin:round;stroke-linecap:round}}\n\
             .dash-{name}{{stroke:{value};stroke-width:1.5;fill:none;stroke-dasharray:5 4}}\n\
             .area-{name}{{fill:{value};fill-opacity:0.13;stroke:none}}\n\
             .fill-{name}{{fill:{value};stroke:none}}\n\
             .dot-{name}{{fill:{value};fill-opacity:0.6;stroke:none}}\n\
             .box-{name}{{fill:{value};fill-opacity:0.22;stroke:{value};stroke-width:1.5}}\n"
        ));
    }
    sheet.push_str(".thin{stroke-width:1.5}\n");
    sheet
}

/// Returns the colour of a series by its index.
pub(super) fn series_colour(index: usize) -> &'static str {
    const NAMES: [&str; SERIES_COLOURS] = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"];
    NAMES[index % SERIES_COLOURS]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_colour_in_both_sheets() {
        assert!(!fixed().contains('$') && !fixed().contains("var("));
        assert!(!by_variables().contains('$') && by_variables().contains("fill:var(--muted)"));
        let (light, dark) = variables();
        assert_eq!(light.matches("--").count(), dark.matches("--").count());
    }
}
