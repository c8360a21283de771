//! Draws the panes.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::View;
use crate::chat::messenger::client::Link;
use crate::chat::messenger::payload::{Kind, Row};
use crate::live::figures::{count, one_line};

/// Width limits of the conversations tab, which takes a quarter of the screen.
const TAB_COLUMNS: std::ops::RangeInclusive<u16> = 16..=28;
/// Below this width only the current conversation is shown.
const TAB_WIDTH_MIN: u16 = 60;
/// From this width on the people present are listed.
const PEOPLE_WIDTH_MIN: u16 = 100;
const PEOPLE_COLUMNS: u16 = 22;
const PROMPT: &str = "> ";

impl View {
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let [head, body, state, line] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let tab_columns = if body.width >= TAB_WIDTH_MIN {
            (body.width / 4).clamp(*TAB_COLUMNS.start(), *TAB_COLUMNS.end())
        } else {
            0
        };
        let people_columns = if body.width >= PEOPLE_WIDTH_MIN { PEOPLE_COLUMNS } else { 0 };
        let [tab, talk, people] = Layout::horizontal([
            Constraint::Length(tab_columns),
            Constraint::Fill(1),
            Constraint::Length(people_columns),
        ])
        .areas(body);
        frame.render_widget(Paragraph::new(self.head_line(head.width)), head);
        if tab_columns > 0 {
            self.draw_tab(frame, tab);
        }
        self.draw_talk(frame, talk);
        if people_columns > 0 {
            self.draw_people(frame, people);
        }
        frame.render_widget(Paragraph::new(self.state_line()), state);
        self.draw_input(frame, line);
    }

    /// The header: place and connection state. The server is omitted if it does not fit.
    fn head_line(&self, columns: u16) -> Line<'static> {
        let client = &self.messenger.client;
        let place =
            client.current().map_or_else(|| format!("#{}", client.room_name()), |id| client.label(id));
        let place = one_line(&place);
        let line = self.head_line_of(format!("{place} on {}", client.server()), true);
        if line.width() <= usize::from(columns) { line } else { self.head_line_of(place, false) }
    }

    fn head_line_of(&self, place: String, with_topic: bool) -> Line<'static> {
        let client = &self.messenger.client;
        let (state, style) = match client.link() {
            Link::Open if client.is_in() => {
                let name = client.me().map_or("", |me| &me.name);
                (format!("you are {}", one_line(name)), self.palette.good())
            }
            Link::Opening | Link::Open => ("connecting…".to_owned(), self.palette.warning()),
            Link::Waiting(_) | Link::Ended => {
                let wait =
                    self.retry_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
                (format!("not connected, retrying in {:.0} s", wait.as_secs_f64().ceil()), self.palette.bad())
            }
        };
        let mut spans =
            vec![Span::styled(place, self.palette.strong()), Span::raw("  "), Span::styled(state, style)];
        let current = client.current().and_then(|id| client.conversation(id));
        match current.map(|conversation| (conversation.kind, client.other_of(conversation))) {
            Some((Kind::Direct, Some(other))) => {
                let status = client.people.status_of(other).unwrap_or("offline");
                spans.push(Span::styled(format!("  {status}"), self.palette.quiet()));
            }
            Some((Kind::Room, _)) => {
                let (_, here) = client.people.here();
                let people =
                    if here == 1 { "1 person".to_owned() } else { format!("{} people", count(here)) };
                spans.push(Span::styled(format!("  {people} here"), self.palette.quiet()));
            }
            Some((Kind::Direct | Kind::Group, _)) | None => {}
        }
        if self.back > 0 {
            spans.push(Span::styled("  (scrolled back)", self.palette.warning()));
        }
        if let Some(topic) = current.map(|conversation| one_line(&conversation.topic))
            && with_topic
            && !topic.is_empty()
        {
            spans.push(Span::styled(format!("  {topic}"), self.palette.quiet()));
        }
        Line::from(spans)
    }

    fn draw_tab(&self, frame: &mut Frame<'_>, area: Rect) {
        let client = &self.messenger.client;
        let width = usize::from(area.width.saturating_sub(1));
        let room = usize::from(area.height);
        let rows = client.tab.rows();
        let at =
            rows.iter().position(|row| Some(row.conversation.id.as_str()) == client.current()).unwrap_or(0);
        // Scroll so that the current conversation is visible.
        let from = (at + 1).saturating_sub(room);
        let lines: Vec<Line<'_>> =
            rows.iter().skip(from).take(room).map(|row| self.row_line(row, width)).collect();
        let edge = Block::new().borders(Borders::RIGHT).border_style(self.palette.quiet());
        frame.render_widget(Paragraph::new(lines).block(edge), area);
    }

    fn row_line(&self, row: &Row, width: usize) -> Line<'static> {
        let client = &self.messenger.client;
        let is_current = client.current() == Some(row.conversation.id.as_str());
        let mark = if is_current { "▸" } else { " " };
        let unread = match (row.unread, row.mentions) {
            (0, _) => String::new(),
            (unread, 0) => format!(" {}", count(unread)),
            (unread, _) => format!(" @{}", count(unread)),
        };
        let label = one_line(&client.label_of(&row.conversation));
        let label = cut(&label, width.saturating_sub(unread.width() + 1));
        let gap = width.saturating_sub(1 + label.width() + unread.width());
        let style = match (is_current, row.unread > 0 && !row.is_muted, row.is_archived || row.is_muted) {
            (true, _, _) => self.palette.accent(),
            (false, true, _) => self.palette.strong(),
            (false, false, true) => self.palette.quiet(),
            (false, false, false) => ratatui::style::Style::new(),
        };
        let unread_style = if row.mentions > 0 { self.palette.warning() } else { self.palette.strong() };
        Line::from(vec![
            Span::styled(format!("{mark}{label}"), style),
            Span::raw(" ".repeat(gap)),
            Span::styled(unread, unread_style),
        ])
    }

    fn draw_talk(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let height = usize::from(area.height);
        self.page = height.saturating_sub(1).max(1);
        self.width = usize::from(area.width.saturating_sub(2));
        let (lines, back_max) = self.talk_lines(self.width, height);
        self.back_max = back_max;
        self.back = self.back.min(back_max);
        // Align the newest message with the bottom.
        let skipped = area.height.saturating_sub(lines.len() as u16);
        let area = Rect {
            x: area.x.saturating_add(1).min(area.right()),
            width: area.width.saturating_sub(1),
            y: area.y + skipped,
            height: area.height - skipped,
        };
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn draw_people(&self, frame: &mut Frame<'_>, area: Rect) {
        let client = &self.messenger.client;
        let (people, all) = client.people.here();
        let room = usize::from(area.height).saturating_sub(1);
        let width = usize::from(area.width).saturating_sub(2);
        let mut lines =
            vec![Line::styled(format!("#{} · {}", client.room_name(), count(all)), self.palette.quiet())];
        let listed = if people.len() > room { room.saturating_sub(1) } else { people.len() };
        lines.extend(people.iter().take(listed).map(|person| {
            let name = one_line(client.people.name(person));
            let (mark, style) = match client.people.status_of(person) {
                Some("away") => ("○ ", self.palette.quiet()),
                Some("busy") => ("⊘ ", self.palette.warning()),
                Some(_) | None => ("● ", self.palette.good()),
            };
            Line::from(vec![
                Span::styled(mark, style),
                Span::styled(cut(&name, width), self.palette.of_name(&name)),
            ])
        }));
        if (listed as u64) < all {
            lines
                .push(Line::styled(format!("and {} more", count(all - listed as u64)), self.palette.quiet()));
        }
        let edge = Block::new().borders(Borders::LEFT).border_style(self.palette.quiet());
        frame.render_widget(Paragraph::new(lines).block(edge), area);
    }

    /// The status line: who is typing, what is waiting, or key hints.
    fn state_line(&self) -> Line<'static> {
        let client = &self.messenger.client;
        let typing = client.current().map(|id| client.people.typing_in(id)).unwrap_or_default();
        let waiting = client.outbox.len();
        let text = match typing.as_slice() {
            [] if waiting > 1 => format!("{waiting} messages waiting to be sent"),
            [] => {
                let unread = client.tab.rows().iter().filter(|row| row.unread > 0 && !row.is_muted).count();
                let hint = "/help   Tab: complete   Ctrl-N: next   Page Up: history   Ctrl-C: quit";
                if unread > 0 { format!("{unread} unread   {hint}") } else { hint.to_owned() }
            }
            [one] => format!("{} is typing…", one_line(one)),
            several => format!("{} people are typing…", several.len()),
        };
        Line::styled(text, self.palette.quiet())
    }

    fn draw_input(&self, frame: &mut Frame<'_>, area: Rect) {
        let columns = usize::from(area.width).saturating_sub(PROMPT.len());
        let (text, cursor) = self.input.window(columns);
        let line = Line::from(vec![Span::styled(PROMPT, self.palette.strong()), Span::raw(text)]);
        frame.render_widget(Paragraph::new(line), area);
        let x = area.x.saturating_add((PROMPT.len() + cursor) as u16).min(area.right().saturating_sub(1));
        frame.set_cursor_position(Position { x, y: area.y });
    }
}

/// Truncates a text to a width.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |grapheme: &&str| {
        used += grapheme.width();
        used < columns
    };
    let mut start: String = text.graphemes(true).take_while(fits).collect();
    start.push('…');
    start
}
