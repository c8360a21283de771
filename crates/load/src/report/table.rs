//! Tables of text and numbers, rendered as text and as HTML.

use super::chart::escape;

/// One cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Text, left-aligned.
    Words(String),
    /// A figure with its unit, right-aligned.
    Figure(String),
    /// Not measured.
    Missing,
}

/// Rows under headings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// The headings; the first column names the rows.
    pub headings: Vec<&'static str>,
    /// Each row has as many cells as there are headings.
    pub rows: Vec<Vec<Cell>>,
}

impl Cell {
    /// Returns a text cell.
    pub fn words(words: impl Into<String>) -> Self {
        Self::Words(words.into())
    }

    /// Returns a figure cell.
    pub fn figure(figure: impl Into<String>) -> Self {
        Self::Figure(figure.into())
    }

    fn text(&self) -> &str {
        match self {
            Self::Words(text) | Self::Figure(text) => text,
            Self::Missing => "–",
        }
    }

    fn is_words(&self) -> bool {
        matches!(self, Self::Words(_))
    }
}

impl Table {
    /// Returns an empty table.
    pub fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Renders aligned columns, two spaces apart; no line ends in a space.
    pub fn text(&self) -> String {
        let widths: Vec<usize> = (0..self.headings.len()).map(|column| self.width(column)).collect();
        let mut text = String::new();
        let headings: Vec<Cell> = self.headings.iter().map(|heading| Cell::words(*heading)).collect();
        for row in std::iter::once(&headings).chain(&self.rows) {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                let pad = " ".repeat(width.saturating_sub(cell.text().chars().count()));
                if self.is_words(column) {
                    format!("{}{pad}", cell.text())
                } else {
                    format!("{pad}{}", cell.text())
                }
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// Renders a `<table>` that scrolls by itself on narrow screens.
    pub fn html(&self) -> String {
        let class = |column: usize| if self.is_words(column) { "" } else { " class=\"figure\"" };
        let head = self.headings.iter().enumerate();
        let head: String = head
            .map(|(column, text)| format!("<th{} scope=\"col\">{}</th>", class(column), escape(text)))
            .collect();
        let row = |cells: &Vec<Cell>| -> String {
            let cells = cells.iter().enumerate();
            cells.map(|(column, cell)| format!("<td{}>{}</td>", class(column), escape(cell.text()))).collect()
        };
        let rows: String = self.rows.iter().map(|cells| format!("<tr>{}</tr>\n", row(cells))).collect();
        format!(
            "<div class=\"scroll\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
        )
    }

    fn width(&self, column: usize) -> usize {
        let cells =
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text().chars().count());
        cells.chain(self.headings.get(column).map(|heading| heading.chars().count())).max().unwrap_or(0)
    }

    /// A column that contains any text is left-aligned.
    fn is_words(&self, column: usize) -> bool {
        column == 0 || self.rows.iter().any(|row| row.get(column).is_some_and(Cell::is_words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["name", "mean", "what"]);
        table.rows.push(vec![Cell::words("<b>"), Cell::figure("1.20 ms"), Cell::words("é")]);
        table.rows.push(vec![Cell::words("connect"), Cell::Missing, Cell::words("")]);
        table
    }

    #[test]
    fn figures_stand_to_the_right_and_lines_end_in_no_space() {
        assert_eq!(table().text(), "name        mean  what\n<b>      1.20 ms  é\nconnect        –\n");
    }

    #[test]
    fn html_is_escaped() {
        let html = table().html();
        assert!(html.contains("<td>&lt;b&gt;</td><td class=\"figure\">1.20 ms</td>"), "{html}");
    }
}
