//! The messages and events of a session, and their layout for a given width.

use std::collections::VecDeque;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::chat::Event;
use crate::live::figures::{count, one_line};
use crate::live::terminal::Palette;

/// Maximum number of entries that can be scrolled back to.
const ENTRIES_MAX: usize = 2000;
/// Maximum length of a displayed message, in characters.
const BODY_CHARS_MAX: usize = 8192;

/// Everything that the screen shows of a session.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    entries: VecDeque<Entry>,
    pub(super) people: Vec<String>,
    /// Number of people present, if there are too many to list.
    pub(super) crowd: Option<u64>,
    pub(super) link: LinkState,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum LinkState {
    #[default]
    Connecting,
    Joined,
    Lost {
        reason: String,
    },
}

#[derive(Debug)]
enum Entry {
    Message { name: String, body: String, own: bool },
    Note(String),
    Problem(String),
}

impl Transcript {
    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Connecting => self.link = LinkState::Connecting,
            Event::Joined => {
                self.link = LinkState::Joined;
                self.note("you joined the room".into());
            }
            Event::Message { name, body, own } => {
                self.add(Entry::Message { name: one_line(&name), body: short(&body), own })
            }
            Event::People(people) => {
                self.people = people.iter().map(|name| one_line(name)).collect();
                self.crowd = None;
            }
            Event::Crowd(people) => {
                self.people.clear();
                self.crowd = Some(people);
            }
            Event::Arrived(name) => self.note(format!("{} joined", one_line(&name))),
            Event::Departed(name) => self.note(format!("{} left", one_line(&name))),
            Event::NotSent { body, reason } => {
                self.add(Entry::Problem(format!("not sent: {}: {}", short(&body), one_line(&reason))));
            }
            Event::Lost { reason, retry_in: _ } => {
                let reason = one_line(&reason);
                let is_news = self.last_problem() != Some(reason.as_str());
                if is_news {
                    self.add(Entry::Problem(reason.clone()));
                }
                self.link = LinkState::Lost { reason };
                self.people.clear();
                self.crowd = None;
            }
        }
    }

    pub(super) fn note(&mut self, text: String) {
        self.add(Entry::Note(text));
    }

    /// Returns `3 people`, or `None` if nothing is known.
    pub(super) fn crowd_text(&self) -> Option<String> {
        let people = self.crowd.or_else(|| (!self.people.is_empty()).then_some(self.people.len() as u64))?;
        Some(if people == 1 { "1 person".into() } else { format!("{} people", count(people)) })
    }

    /// Returns `height` lines of the given width that end `back` lines before the end, and the maximum `back`.
    pub(super) fn lines(
        &self,
        width: usize,
        height: usize,
        back: usize,
        palette: Palette,
    ) -> (Vec<Line<'static>>, usize) {
        let mut lines: VecDeque<Line<'static>> = VecDeque::new();
        let mut is_all = true;
        for entry in self.entries.iter().rev() {
            for line in entry.lines(width, palette).into_iter().rev() {
                lines.push_front(line);
            }
            if lines.len() >= height + back {
                is_all = false;
                break;
            }
        }
        let back_max = lines.len().saturating_sub(height);
        let back = back.min(back_max);
        let end = lines.len() - back;
        let shown = lines.drain(end.saturating_sub(height)..end).collect();
        (shown, if is_all { back_max } else { usize::MAX })
    }

    /// Returns the last entry if it is a problem.
    fn last_problem(&self) -> Option<&str> {
        match self.entries.back() {
            Some(Entry::Problem(problem)) => Some(problem),
            Some(Entry::Message { .. } | Entry::Note(_)) | None => None,
        }
    }

    fn add(&mut self, entry: Entry) {
        if self.entries.len() == ENTRIES_MAX {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }
}

impl Entry {
    fn lines(&self, width: usize, palette: Palette) -> Vec<Line<'static>> {
        match self {
            Entry::Message { name, body, own: _ } if name.is_empty() => {
                wrap(Span::raw(""), body, Style::new(), width)
            }
            Entry::Message { name, body, own } => {
                let style = if *own { palette.strong() } else { palette.of_name(name) };
                wrap(Span::styled(format!("{name}: "), style), body, Style::new(), width)
            }
            Entry::Note(text) => wrap(Span::styled("· ", palette.quiet()), text, palette.quiet(), width),
            Entry::Problem(text) => wrap(Span::styled("! ", palette.bad()), text, palette.warning(), width),
        }
    }
}

/// Wraps a text between words where possible; continuation lines are indented.
pub(super) fn wrap(head: Span<'static>, text: &str, style: Style, width: usize) -> Vec<Line<'static>> {
    const INDENT: &str = "  ";
    let mut lines = Vec::new();
    let mut used = head.content.width();
    let mut spans = vec![head];
    let mut current = String::new();
    let mut break_line = |current: &mut String, spans: &mut Vec<Span<'static>>| {
        spans.push(Span::styled(std::mem::take(current).trim_end().to_owned(), style));
        lines.push(Line::from(std::mem::replace(spans, vec![Span::raw(INDENT)])));
        INDENT.len()
    };
    for word in text.split_word_bounds() {
        if used + word.width() > width && used > INDENT.len() {
            used = break_line(&mut current, &mut spans);
        }
        for grapheme in word.graphemes(true) {
            if used + grapheme.width() > width && used > INDENT.len() {
                used = break_line(&mut current, &mut spans);
            }
            let is_at_break = current.is_empty() && used == INDENT.len();
            if !(is_at_break && grapheme.trim().is_empty()) {
                current.push_str(grapheme);
                used += grapheme.width();
            }
        }
    }
    break_line(&mut current, &mut spans);
    lines
}

fn short(body: &str) -> String {
    one_line(&body.chars().take(BODY_CHARS_MAX).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line<'_>]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn text_breaks_between_words_and_long_words_within() {
        let wrapped = |text| texts(&wrap(Span::raw("Ann: "), text, Style::new(), 12));
        assert_eq!(wrapped("one two three"), ["Ann: one two", "  three"]);
        assert_eq!(wrapped("abcdefghijklmnopqrs"), ["Ann: ", "  abcdefghij", "  klmnopqrs"]);
        assert_eq!(wrapped("漢字漢字漢字"), ["Ann: 漢字漢", "  字漢字"]);
        assert_eq!(wrapped(""), ["Ann: "]);
    }

    #[test]
    fn no_width_is_too_small() {
        for width in 0..5 {
            assert!(!wrap(Span::raw("Ann: "), "one 漢字", Style::new(), width).is_empty());
        }
    }

    #[test]
    fn the_end_is_shown_unless_the_person_went_back() {
        let mut transcript = Transcript::default();
        for number in 0..10 {
            transcript.take(Event::Message { name: "A".into(), body: number.to_string(), own: false });
        }
        let shown = |back| texts(&transcript.lines(20, 3, back, Palette::plain()).0);
        assert_eq!(shown(0), ["A: 7", "A: 8", "A: 9"]);
        assert_eq!(shown(2), ["A: 5", "A: 6", "A: 7"]);
        assert_eq!(shown(99), ["A: 0", "A: 1", "A: 2"]);
        assert_eq!(transcript.lines(20, 3, 99, Palette::plain()).1, 7);
    }

    #[test]
    fn a_server_that_stays_away_is_said_once() {
        let mut transcript = Transcript::default();
        for _ in 0..3 {
            transcript.take(Event::Connecting);
            transcript.take(Event::Lost { reason: "refused".into(), retry_in: std::time::Duration::ZERO });
        }
        assert_eq!(texts(&transcript.lines(20, 9, 0, Palette::plain()).0), ["! refused"]);
    }

    #[test]
    fn what_a_peer_sends_cannot_steer_the_terminal() {
        let mut transcript = Transcript::default();
        transcript.take(Event::Message { name: "\u{1b}[2J".into(), body: "a\u{7}\nb".into(), own: false });
        let text = texts(&transcript.lines(80, 9, 0, Palette::plain()).0).join("|");
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
