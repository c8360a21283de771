//! Lays out the messages of the current conversation as lines of a given width.

use std::collections::VecDeque;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::View;
use super::notes::{Note, Tone};
use crate::chat::messenger::client::Client;
use crate::chat::messenger::payload::{Kind, Message};
use crate::chat::messenger::words;
use crate::chat::transcript::wrap;
use crate::live::figures::one_line;
use crate::live::terminal::Palette;

/// From this width on each message shows its time.
const TIME_WIDTH_MIN: usize = 50;
/// Maximum length of the quotation in a reply, in characters.
const QUOTE_CHARS: usize = 24;

impl View {
    /// Returns `height` lines of the given width that end `back` lines before the end, and the maximum `back`.
    pub(super) fn talk_lines(&self, width: usize, height: usize) -> (Vec<Line<'static>>, usize) {
        let client = &self.messenger.client;
        let mut lines: VecDeque<Line<'static>> = VecDeque::new();
        let mut is_all = true;
        let mut put = |entry: Vec<Line<'static>>| {
            entry.into_iter().rev().for_each(|line| lines.push_front(line));
            lines.len() < height + self.back
        };
        let current = client.current();
        let mut notes = self.notes.of(current).peekable();
        if let Some(id) = current {
            for outgoing in client.outbox.waiting_in(id).collect::<Vec<_>>().into_iter().rev() {
                let state = if outgoing.held_until.is_some() { "… (waiting) " } else { "… " };
                let head = Span::styled(state.to_owned(), self.palette.warning());
                put(wrap(head, &one_line(&outgoing.text), self.palette.quiet(), width));
            }
            let messages = client.thread(id).into_iter().flat_map(|thread| thread.messages().rev());
            'messages: for message in messages {
                while let Some(note) = notes.next_if(|note| note.after >= message.seq) {
                    if !put(note_lines(note, width, self.palette)) {
                        is_all = false;
                        break 'messages;
                    }
                }
                let is_first_new =
                    self.new_from.as_ref().is_some_and(|(new, seq)| new == id && *seq == message.seq);
                let mut entry = message_lines(client, message, width, self.palette);
                if is_first_new {
                    let rule = format!("── new {}", "─".repeat(width.saturating_sub(7)));
                    entry.insert(0, Line::styled(rule, self.palette.warning()));
                }
                if !put(entry) {
                    is_all = false;
                    break;
                }
            }
        }
        if is_all {
            for note in notes {
                if !put(note_lines(note, width, self.palette)) {
                    break;
                }
            }
        }
        let back_max = lines.len().saturating_sub(height);
        let end = lines.len() - self.back.min(back_max);
        let shown = lines.drain(end.saturating_sub(height)..end).collect();
        (shown, if is_all { back_max } else { usize::MAX })
    }
}

pub(super) fn message_lines(
    client: &Client,
    message: &Message,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let name = one_line(client.people.name(&message.sender));
    let is_own = client.is_me(&message.sender);
    let style = if is_own { palette.strong() } else { palette.of_name(&name) };
    let time = if width >= TIME_WIDTH_MIN { format!("{} ", clock(message.at)) } else { String::new() };
    let guest = if client.people.is_guest(&message.sender) && !is_own { "~" } else { "" };
    let answers = message.reply_to.map(|seq| quote(client, &message.conversation, seq)).unwrap_or_default();
    let head = Span::styled(format!("{guest}{name}: "), style);
    let is_for_me = message.mentions.iter().any(|person| client.is_me(person));
    let text_style = match (message.is_deleted, is_for_me) {
        (true, _) => palette.quiet(),
        (false, true) => palette.warning(),
        (false, false) => Style::new(),
    };
    let place = Span::styled(format!("{time}{} ", message.seq), palette.quiet());
    let mut body = format!("{answers}{}{}", words::body(message), words::marks(message));
    let is_direct =
        client.conversation(&message.conversation).is_some_and(|known| known.kind == Kind::Direct);
    if is_own && is_direct && client.is_read_by_others(&message.conversation, message.seq) {
        body += " ✓";
    }
    // The head is on the first line and counts towards its width.
    let indent = place.content.chars().count();
    let mut lines = wrap(head, &body, text_style, width.saturating_sub(indent).max(8));
    if let Some(first) = lines.first_mut() {
        first.spans.insert(0, place);
    }
    for line in lines.iter_mut().skip(1) {
        line.spans.insert(0, Span::raw(" ".repeat(indent)));
    }
    lines
}

/// Formats the reference to a replied message, with its beginning if it is known.
fn quote(client: &Client, conversation: &str, seq: u64) -> String {
    match client.thread(conversation).and_then(|thread| thread.get(seq)) {
        Some(message) => {
            let whole = words::body(message);
            let start: String = whole.chars().take(QUOTE_CHARS).collect();
            let more = if whole.chars().count() > QUOTE_CHARS { "…" } else { "" };
            format!("[to #{seq} {}: {start}{more}] ", one_line(client.people.name(&message.sender)))
        }
        None => format!("[to #{seq}] "),
    }
}

fn note_lines(note: &Note, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let (mark, style) = match note.tone {
        Tone::Quiet => ("· ", palette.quiet()),
        Tone::Warning => ("! ", palette.warning()),
        Tone::Bad => ("! ", palette.bad()),
    };
    note.lines.iter().flat_map(|line| wrap(Span::styled(mark, style), line, style, width)).collect()
}

/// Formats hours and minutes in local time.
fn clock(at: i64) -> String {
    match Timestamp::from_millisecond(at) {
        Ok(moment) => moment.to_zoned(TimeZone::system()).strftime("%H:%M").to_string(),
        Err(_) => "--:--".into(),
    }
}
