//! The messenger in full-screen mode: the conversations with their unread counts, the messages of the current one, the
//! people present, and the input line.

mod complete;
mod draw;
mod notes;
mod talk;

use std::time::{Duration, Instant};

use crossterm::event::{self, Event as TerminalEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::chat::error::ChatError;
use crate::chat::input::{Input, Typed as Key};
use crate::chat::messenger::client::plural;
use crate::chat::messenger::command::Typed;
use crate::chat::messenger::news::News;
use crate::chat::messenger::payload::Row;
use crate::chat::messenger::wire::Incoming;
use crate::chat::messenger::{Messenger, words};
use crate::live::figures::one_line;
use crate::live::terminal::{Palette, Screen};
use notes::{Notes, Tone};

/// Maximum delay of a key press or a message.
const REDRAW_INTERVAL: Duration = Duration::from_millis(50);
/// How long a note waits for a name, and how many notes may wait.
const NAME_WAIT: Duration = Duration::from_secs(2);
const UNNAMED_MAX: usize = 64;
/// Timeout for the server's part of the closing handshake.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) fn run(messenger: Messenger) -> Result<(), ChatError> {
    let mut screen = Screen::open().map_err(ChatError::Terminal)?;
    let mut view = View::new(messenger);
    let ended = loop {
        view.listen();
        if let Some(reason) = view.ended.take() {
            break Some(reason);
        }
        match view.turn(&mut screen) {
            Ok(AfterKey::Stay) => {}
            Ok(AfterKey::Leave) => break None,
            Err(error) => return Err(ChatError::Terminal(error)),
        }
    };
    drop(screen);
    match ended {
        Some(reason) => Err(ChatError::NotLetIn(reason)),
        None => {
            view.leave();
            Ok(())
        }
    }
}

struct View {
    messenger: Messenger,
    notes: Notes,
    input: Input,
    /// Number of lines scrolled back from the end.
    back: usize,
    /// Set by the last drawing.
    page: usize,
    back_max: usize,
    width: usize,
    /// Position of the first unread message when the conversation was opened.
    new_from: Option<(String, u64)>,
    retry_at: Option<Instant>,
    /// News items that wait for a name, with their time of arrival.
    unnamed: Vec<(Instant, News)>,
    ended: Option<String>,
    palette: Palette,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterKey {
    Stay,
    Leave,
}

impl View {
    fn new(messenger: Messenger) -> Self {
        Self {
            messenger,
            notes: Notes::default(),
            input: Input::default(),
            back: 0,
            page: 1,
            back_max: 0,
            width: 80,
            new_from: None,
            retry_at: None,
            unnamed: Vec::new(),
            ended: None,
            palette: Palette::of_environment(),
        }
    }

    /// Draws once, and handles one key if there is one.
    fn turn(&mut self, screen: &mut Screen) -> std::io::Result<AfterKey> {
        screen.check()?;
        screen.terminal.draw(|frame| self.draw(frame))?;
        if event::poll(REDRAW_INTERVAL)?
            && let TerminalEvent::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            return Ok(self.key(key));
        }
        Ok(AfterKey::Stay)
    }

    fn listen(&mut self) {
        let news = self.messenger.step(Duration::ZERO);
        self.take(news);
        if self.back == 0 {
            self.messenger.client.seen();
        }
        let news = self.messenger.carry_out();
        self.take(news);
    }

    fn take(&mut self, news: Vec<News>) {
        for (came, each) in std::mem::take(&mut self.unnamed) {
            self.name_or_wait(came, each);
        }
        for each in news {
            self.name_or_wait(Instant::now(), each);
        }
    }

    /// A note is written only once, so it waits a short time for the name in it. Text beside messages is redrawn each
    /// time.
    fn name_or_wait(&mut self, came: Instant, news: News) {
        let has_time = came.elapsed() < NAME_WAIT && self.unnamed.len() < UNNAMED_MAX;
        if let News::Member { person, .. } = &news
            && has_time
            && self.messenger.client.people.is_awaited(person)
        {
            self.unnamed.push((came, news));
        } else {
            self.hear(news);
        }
    }

    fn hear(&mut self, news: News) {
        let client = &self.messenger.client;
        match news {
            News::Connecting | News::Joined => self.retry_at = None,
            News::Opened { conversation } => {
                self.back = 0;
                let unread = client.tab.get(&conversation).filter(|row| row.unread > 0);
                self.new_from = unread.map(|row| (conversation.clone(), row.read + 1));
            }
            News::Said(message) => {
                // Keep the scroll position while new messages arrive.
                if self.back > 0 && client.current() == Some(&message.conversation) {
                    self.back += talk::message_lines(client, &message, self.width, self.palette).len();
                }
            }
            News::Changed { .. }
            | News::Unread { .. }
            | News::Presence { .. }
            | News::Typing { .. }
            | News::Stored { .. } => {}
            News::Skipped { conversation, from, to } => {
                let place = client.label(&conversation);
                self.note(
                    Tone::Quiet,
                    vec![format!("{place}: #{from} to #{to} were skipped; Page Up loads them")],
                );
            }
            News::Page { title, messages, more } => {
                let found = plural(messages.len() as u64, "message");
                let mut lines = vec![format!("{}: {found}", one_line(&title))];
                lines.extend(messages.iter().map(|message| {
                    let (place, name) =
                        (client.label(&message.conversation), client.people.name(&message.sender));
                    let (place, name) = (one_line(&place), one_line(name));
                    format!(
                        "[{place} {}] {name}: {}{}",
                        message.seq,
                        words::body(message),
                        words::marks(message)
                    )
                }));
                if more {
                    lines.push("more results: repeat the command without words".into());
                }
                self.note(Tone::Quiet, lines);
            }
            News::Held { text, reason, wait } => {
                let wait = wait.as_secs_f64();
                self.note(Tone::Warning, vec![format!("{reason}; resending in {wait:.1} s: {text}")]);
            }
            News::Member { conversation, person, is_in } => {
                let line = words::member(client, &conversation, &person, is_in);
                self.note(Tone::Quiet, vec![line]);
            }
            News::Told { lines, .. } => self.note(Tone::Quiet, lines),
            News::Note(note) => self.note(Tone::Quiet, vec![note]),
            News::Refused { what, reason, code: _ } => {
                self.note(Tone::Bad, vec![words::refusal(&what, &reason)]);
            }
            News::Lost { reason, retry_in } => {
                self.retry_at = Some(Instant::now() + retry_in);
                self.note(Tone::Bad, vec![reason]);
            }
            News::Ended { reason } => self.ended = Some(reason),
        }
    }

    /// Adds a note after the newest message.
    fn note(&mut self, tone: Tone, lines: Vec<String>) {
        let client = &self.messenger.client;
        let current = client.current().map(str::to_owned);
        let after = current.as_deref().and_then(|id| client.thread(id)).map_or(0, |thread| thread.last());
        let lines = lines.iter().map(|line| one_line(line)).collect();
        self.notes.add(current, after, tone, lines);
    }

    fn key(&mut self, key: KeyEvent) -> AfterKey {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('c' | 'd') if control => return AfterKey::Leave,
            KeyCode::Char('n') if control => self.go(1),
            KeyCode::Char('p') if control => self.go(-1),
            KeyCode::Down if alt => self.go(1),
            KeyCode::Up if alt => self.go(-1),
            KeyCode::PageUp => self.back_up(),
            KeyCode::PageDown => self.back = self.back.saturating_sub(self.page),
            KeyCode::Tab => self.complete(),
            _ => match self.input.key(key) {
                Key::Line(line) => return self.line(line),
                Key::Edited => self.typing(),
                Key::Other => {}
            },
        }
        AfterKey::Stay
    }

    /// Scrolls back; near the oldest message held, requests older ones.
    fn back_up(&mut self) {
        self.back = (self.back + self.page).min(self.back_max);
        if self.back + self.page >= self.back_max
            && let Some(id) = self.messenger.client.current().map(str::to_owned)
        {
            self.messenger.client.grow(&id);
        }
    }

    /// Switches to another conversation of the list.
    fn go(&mut self, by: isize) {
        let client = &self.messenger.client;
        let rows: Vec<Row> = client.tab.rows().into_iter().cloned().collect();
        let at = rows.iter().position(|row| Some(row.conversation.id.as_str()) == client.current());
        let count = rows.len() as isize;
        let next = match at {
            Some(at) => at as isize + by,
            None => 0,
        };
        if count == 0 {
            return;
        }
        let row = &rows[next.rem_euclid(count) as usize].conversation;
        let gone = self.messenger.client.go_to(row.id.clone(), row.kind, row.name.clone());
        if let Err(problem) = gone {
            self.note(Tone::Bad, vec![problem]);
        }
    }

    fn typing(&mut self) {
        let text = self.input.text();
        if !text.is_empty() && !text.starts_with('/') {
            self.messenger.client.types(Instant::now());
        }
    }

    fn line(&mut self, line: String) -> AfterKey {
        self.back = 0;
        match Typed::parse(&line) {
            Ok(Typed::Quit) => return AfterKey::Leave,
            Ok(Typed::History { before: None }) => {
                // Older messages are scrolled into view instead of being shown separately.
                let id = self.messenger.client.current().map(str::to_owned);
                let is_more = id.is_some_and(|id| self.messenger.client.grow(&id));
                if is_more {
                    self.back = self.back_max;
                } else {
                    self.note(Tone::Quiet, vec!["no older messages, or the maximum number is loaded".into()]);
                }
            }
            Ok(typed) => {
                if matches!(typed, Typed::Say(_) | Typed::Reply { .. }) {
                    self.new_from = None;
                }
                self.messenger.client.perform(typed, Instant::now());
            }
            Err(problem) => {
                self.messenger.client.misunderstood(problem);
                // Restore the line so that it can be corrected.
                self.input.set(line);
            }
        }
        AfterKey::Stay
    }

    /// Closes the connection.
    fn leave(self) {
        if self.messenger.wire.close("left".into()) {
            let until = Instant::now() + LEAVE_TIMEOUT;
            while let Ok(incoming) =
                self.messenger.incoming.recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                if matches!(incoming, Incoming::Lost(_)) {
                    return;
                }
            }
        }
    }
}
