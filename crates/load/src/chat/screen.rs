//! The chat in full-screen mode: the messages, the people present, and the input line.

use std::io;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event as TerminalEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use crate::chat::input::{Input, Typed};
use crate::chat::transcript::{LinkState, Transcript};
use crate::chat::{Event, Session};
use crate::live::terminal::{Palette, Screen};

/// Maximum delay of a key press or a message.
const REDRAW_INTERVAL: Duration = Duration::from_millis(50);
/// Timeout for the server's part of the closing handshake.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);
/// Width limits of the list of people, which takes a quarter of the screen.
const PEOPLE_COLUMNS: std::ops::RangeInclusive<u16> = 16..=28;
/// Below this width the people present are only counted.
const PEOPLE_WIDTH_MIN: u16 = 60;
const PROMPT: &str = "> ";

pub(super) fn run(session: Session) -> io::Result<()> {
    let mut screen = Screen::open()?;
    let mut chat = Chat::new(session);
    loop {
        chat.listen();
        screen.check()?;
        screen.terminal.draw(|frame| chat.draw(frame))?;
        if !event::poll(REDRAW_INTERVAL)? {
            continue;
        }
        if let TerminalEvent::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
            && chat.key(key) == AfterKey::Leave
        {
            break;
        }
    }
    drop(screen);
    chat.leave();
    Ok(())
}

struct Chat {
    session: Session,
    transcript: Transcript,
    input: Input,
    /// Number of lines scrolled back from the end.
    back: usize,
    /// Set by the last drawing.
    page: usize,
    back_max: usize,
    retry_at: Option<Instant>,
    palette: Palette,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterKey {
    Stay,
    Leave,
}

impl Chat {
    fn new(session: Session) -> Self {
        let transcript = Transcript::default();
        let palette = Palette::of_environment();
        Self {
            session,
            transcript,
            input: Input::default(),
            back: 0,
            page: 1,
            back_max: 0,
            retry_at: None,
            palette,
        }
    }

    fn listen(&mut self) {
        loop {
            match self.session.events().try_recv() {
                Ok(event) => {
                    self.retry_at = match &event {
                        Event::Lost { retry_in, .. } => Some(Instant::now() + *retry_in),
                        Event::Connecting | Event::Joined => None,
                        Event::Message { .. }
                        | Event::People(_)
                        | Event::Crowd(_)
                        | Event::Arrived(_)
                        | Event::Departed(_)
                        | Event::NotSent { .. } => self.retry_at,
                    };
                    self.transcript.take(event);
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    fn key(&mut self, key: KeyEvent) -> AfterKey {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if control => return AfterKey::Leave,
            KeyCode::PageUp => self.back = (self.back + self.page).min(self.back_max),
            KeyCode::PageDown => self.back = self.back.saturating_sub(self.page),
            _ => match self.input.key(key) {
                Typed::Line(line) => return self.line(line),
                Typed::Edited | Typed::Other => {}
            },
        }
        AfterKey::Stay
    }

    fn line(&mut self, line: String) -> AfterKey {
        match line.trim() {
            "" => {}
            "/quit" => return AfterKey::Leave,
            "/who" => {
                let people = self.transcript.people.join(", ");
                let crowd = self
                    .transcript
                    .crowd_text()
                    .unwrap_or_else(|| "the server has not reported who is present".into());
                self.transcript.note(if people.is_empty() { crowd } else { format!("{crowd}: {people}") });
            }
            "/help" => self.transcript.note(
                "/who lists who is present, /quit quits; Page Up and Page Down scroll, Up and Down recall \
                 earlier lines"
                    .into(),
            ),
            // What cannot be sent now stays in the input line.
            _ if self.transcript.link != LinkState::Joined => {
                self.transcript.note("not connected: press Enter again after reconnecting".into());
                self.input.set(line);
            }
            _ => {
                if let Err(line) = self.session.say(line) {
                    self.transcript
                        .note("too many messages are waiting to be sent: press Enter again later".into());
                    self.input.set(line);
                }
            }
        }
        self.back = 0;
        AfterKey::Stay
    }

    /// Closes the connection.
    fn leave(mut self) {
        if self.transcript.link != LinkState::Joined {
            return;
        }
        self.session.finish();
        let deadline = Instant::now() + LEAVE_TIMEOUT;
        while self.session.events().recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok() {
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        let [head, body, line] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
                .areas(frame.area());
        let columns = if body.width >= PEOPLE_WIDTH_MIN {
            (body.width / 4).clamp(*PEOPLE_COLUMNS.start(), *PEOPLE_COLUMNS.end())
        } else {
            0
        };
        let [said, people] =
            Layout::horizontal([Constraint::Fill(1), Constraint::Length(columns)]).areas(body);
        frame.render_widget(Paragraph::new(self.head_line(head.width)), head);
        self.draw_said(frame, said);
        if columns > 0 {
            self.draw_people(frame, people);
        }
        self.draw_input(frame, line);
    }

    /// The header: place, connection state and number of people. The server is omitted if it does not fit.
    fn head_line(&self, columns: u16) -> Line<'static> {
        let (room, server) = (self.session.room(), self.session.server());
        let line = self.head_line_of(if room.is_empty() {
            server.to_owned()
        } else {
            format!("{room} on {server}")
        });
        if line.width() <= usize::from(columns) || room.is_empty() {
            line
        } else {
            self.head_line_of(room.to_owned())
        }
    }

    fn head_line_of(&self, place: String) -> Line<'static> {
        let (state, style) = match &self.transcript.link {
            LinkState::Connecting => ("connecting…".to_owned(), self.palette.warning()),
            LinkState::Joined => (format!("you are {}", self.session.name()), self.palette.good()),
            LinkState::Lost { reason: _ } => {
                let wait =
                    self.retry_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
                (format!("not connected, retrying in {:.0} s", wait.as_secs_f64().ceil()), self.palette.bad())
            }
        };
        let mut spans =
            vec![Span::styled(place, self.palette.strong()), Span::raw("  "), Span::styled(state, style)];
        if let Some(crowd) = self.transcript.crowd_text() {
            spans.push(Span::styled(format!("  {crowd}"), self.palette.quiet()));
        }
        if self.back > 0 {
            spans.push(Span::styled("  (scrolled back)", self.palette.warning()));
        }
        Line::from(spans)
    }

    fn draw_said(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let height = usize::from(area.height);
        self.page = height.saturating_sub(1).max(1);
        let width = usize::from(area.width.saturating_sub(1));
        let (lines, back_max) = self.transcript.lines(width, height, self.back, self.palette);
        self.back_max = back_max;
        self.back = self.back.min(back_max);
        // Align the newest message with the bottom.
        let skipped = area.height.saturating_sub(lines.len() as u16);
        let area = Rect { y: area.y + skipped, height: area.height - skipped, ..area };
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn draw_people(&self, frame: &mut Frame<'_>, area: Rect) {
        let room = usize::from(area.height);
        let people = &self.transcript.people;
        let listed = if people.len() > room { room.saturating_sub(1) } else { people.len() };
        let mut lines: Vec<Line<'_>> = people
            .iter()
            .take(listed)
            .map(|name| Line::styled(name.as_str(), self.palette.of_name(name)))
            .collect();
        if listed < people.len() {
            lines.push(Line::styled(format!("and {} more", people.len() - listed), self.palette.quiet()));
        }
        let edge = Block::new().borders(Borders::LEFT).border_style(self.palette.quiet());
        frame.render_widget(Paragraph::new(lines).block(edge), area);
    }

    fn draw_input(&self, frame: &mut Frame<'_>, area: Rect) {
        let columns = usize::from(area.width).saturating_sub(PROMPT.len());
        let (text, cursor) = self.input.window(columns);
        frame.render_widget(
            Paragraph::new(Line::from(vec![Span::styled(PROMPT, self.palette.strong()), Span::raw(text)])),
            area,
        );
        let x = area.x.saturating_add((PROMPT.len() + cursor) as u16).min(area.right().saturating_sub(1));
        frame.set_cursor_position(Position { x, y: area.y });
    }
}
