//! Shows a running server full-screen. Restores the terminal however it ends, even after a panic.

use super::look::{Looks, Rates};
use super::scrape::{StatusLimits, status};
use super::tables::{self, Table};
use crate::asking::Server;
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use doctor::amounts::{bytes, grouped};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use std::io;
use std::time::{Duration, Instant};

/// Narrower terminals show all tables below each other; what does not fit is left out.
const TWO_COLUMNS_WIDTH: u16 = 116;
const LEFT_COLUMNS: u16 = 64;
const HEAD_LINES: u16 = 2;
/// Longest wait for a key; then the screen is redrawn for the terminal's current size.
const KEY_WAIT_MAX: Duration = Duration::from_millis(250);

/// Shows the server until the user quits: `q`, Escape or Ctrl-C.
pub(super) fn run(server: &Server, looks: &mut Looks, interval: Duration) -> io::Result<()> {
    let palette = Palette::of_environment();
    let mut screen = Screen::open()?;
    let mut trouble = None;
    let mut due = Instant::now() + interval;
    loop {
        screen.terminal.draw(|frame| {
            View { authority: server.authority(), looks, trouble: trouble.as_deref(), palette }.draw(frame);
        })?;
        let wait = due.saturating_duration_since(Instant::now()).min(KEY_WAIT_MAX);
        if event::poll(wait)? && wants_to_leave(&event::read()?) {
            return Ok(());
        }
        if Instant::now() < due {
            continue;
        }
        trouble = match status(server, StatusLimits::ALL) {
            Ok(status) => {
                looks.take(status);
                None
            }
            Err(error) => Some(error.to_string()),
        };
        due = Instant::now() + interval;
    }
}

fn wants_to_leave(event: &Event) -> bool {
    match event {
        Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) => {
            let with_control = modifiers.contains(KeyModifiers::CONTROL);
            match code {
                KeyCode::Char('c') => with_control,
                KeyCode::Char('q' | 'Q') => !with_control,
                KeyCode::Esc => true,
                _ => false,
            }
        }
        Event::Key(_)
        | Event::Resize(..)
        | Event::Mouse(_)
        | Event::Paste(_)
        | Event::FocusGained
        | Event::FocusLost => false,
    }
}

/// A terminal in raw mode with its alternate screen, until this is dropped.
struct Screen {
    terminal: ratatui::DefaultTerminal,
}

impl Screen {
    fn open() -> io::Result<Screen> {
        Ok(Screen { terminal: ratatui::try_init()? })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Uses colours unless the user disabled them (<https://no-color.org>); the text contains the same information.
#[derive(Clone, Copy)]
struct Palette {
    coloured: bool,
}

impl Palette {
    fn of_environment() -> Palette {
        Palette { coloured: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn accent(self) -> Style {
        if self.coloured { Style::new().fg(Color::Cyan) } else { Style::new() }
    }

    fn bad(self) -> Style {
        if self.coloured { self.strong().fg(Color::Red) } else { self.strong() }
    }
}

/// The contents of one frame.
struct View<'a> {
    authority: &'a str,
    looks: &'a Looks,
    /// Why the last request failed.
    trouble: Option<&'a str>,
    palette: Palette,
}

impl View<'_> {
    fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area().inner(Margin::new(1, 0));
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(HEAD_LINES), Constraint::Fill(1), Constraint::Length(1)])
                .areas(area);
        frame.render_widget(Paragraph::new(self.head_lines(head.width)), head);
        frame.render_widget(Paragraph::new(self.foot_line()), foot);
        let look = self.looks.last();
        let left = [tables::figures(look), tables::topics(&look.status), tables::readers(&look.status)];
        let right = [tables::shards(look, &self.looks.busy), tables::memory(&look.status)];
        if body.width >= TWO_COLUMNS_WIDTH {
            let columns = [Constraint::Length(LEFT_COLUMNS), Constraint::Fill(1)];
            let [left_area, right_area] = Layout::horizontal(columns).spacing(2).areas(body);
            self.draw_tables(frame, left_area, left);
            self.draw_tables(frame, right_area, right);
        } else {
            self.draw_tables(frame, body, left.into_iter().chain(right));
        }
    }

    /// Draws tables below each other, as far as there is room.
    fn draw_tables(&self, frame: &mut Frame<'_>, area: Rect, tables: impl IntoIterator<Item = Table>) {
        let mut lines = Vec::new();
        for Table { title, lines: rows } in tables {
            lines.push(Line::styled(title, self.palette.strong()));
            lines.extend(rows.into_iter().map(Line::raw));
            lines.push(Line::default());
        }
        lines.truncate(usize::from(area.height));
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn head_lines(&self, width: u16) -> Vec<Line<'static>> {
        let status = &self.looks.last().status;
        let title = Line::from(vec![
            Span::styled(format!("Throng {}", status.version), self.palette.strong()),
            Span::styled(
                format!("  {}  up {}", self.authority, span(status.uptime_seconds)),
                self.palette.quiet(),
            ),
            Span::raw(format!(
                "  {} connections, {}",
                grouped(status.connections.open),
                bytes(status.memory.resident_bytes)
            )),
        ]);
        vec![title, self.curves(width)]
    }

    /// Draws messages in and out over time.
    fn curves(&self, width: u16) -> Line<'static> {
        let columns = usize::from(width / 2).saturating_sub(8);
        let curve = |of: fn(&Rates) -> f64| sparkline(&self.looks.curve(of), columns);
        Line::from(vec![
            Span::raw("in/s "),
            Span::styled(curve(|rates| rates.messages_in), self.palette.accent()),
            Span::raw("  out/s "),
            Span::styled(curve(|rates| rates.messages_out), self.palette.accent()),
        ])
    }

    fn foot_line(&self) -> Line<'static> {
        match self.trouble {
            Some(trouble) => Line::styled(trouble.to_owned(), self.palette.bad()),
            None => Line::styled("q: quit", self.palette.quiet()),
        }
    }
}

/// Formats a duration as `3d 04:05:06` or `04:05:06`.
fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    let days = if days > 0 { format!("{days}d ") } else { String::new() };
    format!("{days}{hours:02}:{minutes:02}:{:02}", whole % 60)
}

/// Draws bars between 0 and the maximum of the last values, one per column.
fn sparkline(values: &[f64], columns: usize) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let shown = &values[values.len().saturating_sub(columns)..];
    let greatest = shown.iter().copied().fold(0.0, f64::max);
    let level = |value: &f64| {
        let share = if greatest > 0.0 { value / greatest } else { 0.0 };
        LEVELS[(share * (LEVELS.len() - 1) as f64).round() as usize]
    };
    shown.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{ShardStatus, Status, TopicStatus};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(width: u16, height: u16, trouble: Option<&str>) -> String {
        let mut status =
            Status { version: "1.2.3".to_owned(), uptime_seconds: 90_061.0, ..Status::default() };
        status.connections.open = 12_345;
        status.shards = vec![ShardStatus::default(); 2];
        status.topics = vec![TopicStatus { topic: "rooms:lobby".to_owned(), members: 12_000 }];
        let mut looks = Looks::default();
        looks.take(status);
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory is a terminal");
        let palette = Palette { coloured: false };
        let view = View { authority: "127.0.0.1:4001", looks: &looks, trouble, palette };
        terminal.draw(|frame| view.draw(frame)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn a_wide_terminal_shows_everything_beside_each_other() {
        let screen = drawn(130, 40, None);
        for expected in [
            "Throng 1.2.3  127.0.0.1:4001  up 1d 01:01:01  12,345 connections",
            "Totals and rates",
            "12,000  rooms:lobby",
            "Shards",
            "Memory",
            "q: quit",
        ] {
            assert!(screen.contains(expected), "{expected} is missing in\n{screen}");
        }
    }

    #[test]
    fn a_small_terminal_shows_what_matters_most() {
        for (width, height) in [(80, 24), (40, 10), (10, 3), (1, 1)] {
            let screen = drawn(width, height, None);
            assert_eq!(screen.contains("connections"), width >= 40, "{width} × {height}:\n{screen}");
        }
    }

    #[test]
    fn a_server_that_went_away_is_said_to_have_gone_and_its_last_figures_stay() {
        let screen = drawn(130, 40, Some("127.0.0.1:4001: Connection refused"));
        assert!(screen.contains("Connection refused") && screen.contains("12,345"), "{screen}");
    }

    #[test]
    fn a_curve_shows_the_last_values() {
        assert_eq!(sparkline(&[9.0, 0.0, 1.0, 7.0], 3), "▁▂█");
        assert_eq!(sparkline(&[0.0, 0.0], 9), "▁▁");
        assert_eq!(sparkline(&[], 5), "");
    }
}
