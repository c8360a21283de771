//! The page around the content: head, style, script, table of contents, charts in both widths.

use super::super::Plot;
use super::super::chart::{Place, Size, by_variables, escape, variables};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("hover.js");

/// A page under construction.
pub(super) struct Page {
    title: String,
    header: String,
    body: String,
    contents: Vec<(String, String)>,
}

impl Page {
    /// Starts a page with this title and a line of facts below it.
    pub(super) fn new(title: &str, facts: &str) -> Self {
        let header = format!(
            "<header><p class=\"kind\">Stampede</p><h1>{}</h1><p class=\"facts\">{}</p></header>\n",
            escape(title),
            escape(facts)
        );
        Self { title: title.to_owned(), header, body: String::new(), contents: Vec::new() }
    }

    /// Appends HTML unchanged: foreign text must already be escaped.
    pub(super) fn push(&mut self, html: &str) {
        self.body.push_str(html);
    }

    /// Adds a section whose heading is listed in the table of contents.
    pub(super) fn section(&mut self, id: &str, heading: &str, content: impl FnOnce(&mut Self)) {
        self.contents.push((id.to_owned(), heading.to_owned()));
        self.push(&format!("<section id=\"{}\">\n<h2>{}</h2>\n", escape(id), escape(heading)));
        content(self);
        self.push("</section>\n");
    }

    /// Adds a chart in two versions, for large screens (`large`) and for phones; the style sheet shows one of them.
    pub(super) fn chart(&mut self, plot: &Plot, with_title: bool, large: Size) {
        let chart = &plot.chart;
        self.push("<figure>\n");
        let note = if chart.is_empty() { "" } else { chart.note.as_str() };
        if with_title || !note.is_empty() {
            let title = if with_title { format!("<h3>{}</h3>", escape(&chart.title)) } else { String::new() };
            let note = if note.is_empty() { String::new() } else { format!("<p>{}</p>", escape(note)) };
            self.push(&format!("<figcaption>{title}{note}</figcaption>\n"));
        }
        if chart.is_empty() {
            self.push(&format!("<p class=\"nothing\">{}</p>\n", escape(&chart.empty)));
        } else {
            self.push(&format!("<div class=\"large\">{}</div>\n", chart.svg(large, Place::Page)));
            self.push(&format!("<div class=\"small\">{}</div>\n", chart.svg(Size::NARROW, Place::Page)));
        }
        self.push("</figure>\n");
    }

    pub(super) fn finish(self) -> String {
        let (light, dark) = variables();
        let title = escape(&self.title);
        let contents: String = self
            .contents
            .iter()
            .map(|(id, heading)| format!("<a href=\"#{}\">{}</a>\n", escape(id), escape(heading)))
            .collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · Stampede</title>\n<style>\n\
             :root{{{light}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}\n{charts}{STYLE}\
             </style>\n</head>\n<body>\n<main>\n{header}<nav aria-label=\"Contents\">\n{contents}</nav>\n{body}</main>\n\
             <div id=\"values\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            charts = by_variables(),
            header = self.header,
            body = self.body,
        )
    }
}
