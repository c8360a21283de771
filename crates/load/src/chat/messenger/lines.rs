//! The messenger in line mode, for scripts and pipes: each line of standard input is a message or a command, and is
//! processed when the previous one is answered; messages and answers go to standard output, everything else to standard
//! error. In JSON mode everything goes to standard output.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::chat::error::ChatError;
use crate::chat::messenger::client::{Link, plural};
use crate::chat::messenger::command::Typed;
use crate::chat::messenger::news::News;
use crate::chat::messenger::payload::Message;
use crate::chat::messenger::wire::Incoming;
use crate::chat::messenger::{Messenger, TICK, json, words};
use crate::live::figures::one_line;

/// Maximum number of consecutive failed attempts to connect.
const ATTEMPTS_MAX: usize = 5;
/// How long a message waits for its author's name.
const NAME_WAIT: Duration = Duration::from_secs(2);
/// Maximum number of news items that wait for a name; beyond it they are shown with IDs.
const NEWS_MAX: usize = 4096;
/// Maximum number of lines read ahead.
const TYPED_MAX: usize = 64;
/// Timeout for the server's part of the closing handshake.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Text,
    Json,
}

/// Chats over standard input and output until the input has ended and all lines are answered.
pub(super) fn run(messenger: Messenger, shape: Shape) -> Result<(), ChatError> {
    let typed = read_lines()?;
    let (mut out, mut notes) = (io::stdout().lock(), io::stderr().lock());
    Lines { messenger, shape, news: VecDeque::new(), typed, is_over: false, goes: None }
        .talk(&mut out, &mut notes)
}

/// Reads lines on a thread, which is abandoned if the session ends first, because a read of standard input cannot be
/// interrupted. Blocks when [`TYPED_MAX`] lines are waiting.
fn read_lines() -> Result<Receiver<String>, ChatError> {
    let (tell, typed) = sync_channel(TYPED_MAX);
    let read = move || {
        // A line that is not UTF-8 cannot be sent and ends the input.
        for line in BufReader::new(io::stdin()).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("stdin".into()).spawn(read).map_err(ChatError::Terminal)?;
    Ok(typed)
}

struct Lines {
    messenger: Messenger,
    shape: Shape,
    /// News items with their time of arrival.
    news: VecDeque<(Instant, News)>,
    typed: Receiver<String>,
    /// Whether the input has ended.
    is_over: bool,
    /// Set while a line that changes the conversation is processed: the number of failed lines before it.
    goes: Option<u64>,
}

impl Lines {
    fn talk(mut self, out: &mut dyn Write, notes: &mut dyn Write) -> Result<(), ChatError> {
        loop {
            let news = self.messenger.step(TICK);
            self.take(news);
            let leaves = self.obey();
            self.show(out, notes, false).map_err(ChatError::Terminal)?;
            self.messenger.client.seen();
            let news = self.messenger.carry_out();
            self.take(news);
            if let Some(error) = self.gave_up() {
                self.show(out, notes, true).map_err(ChatError::Terminal)?;
                return Err(error);
            }
            if leaves || (self.is_over && self.messenger.client.is_settled() && self.news.is_empty()) {
                return self.leave(out, notes);
            }
        }
    }

    fn take(&mut self, news: Vec<News>) {
        let now = Instant::now();
        self.news.extend(news.into_iter().map(|news| (now, news)));
    }

    /// Processes the typed lines in order. Returns whether to quit.
    fn obey(&mut self) -> bool {
        while !self.is_over && self.messenger.client.is_settled() {
            // The following lines were written for the conversation that this one should have opened, and a script
            // cannot see that it failed.
            if self.goes.take().is_some_and(|before| self.messenger.client.refused() > before) {
                self.messenger.client.show_nothing();
            }
            match self.typed.try_recv().map(|line| Typed::parse(&line)) {
                Ok(Ok(Typed::Quit)) => return true,
                Ok(Ok(typed)) => {
                    self.goes = typed.goes_elsewhere().then(|| self.messenger.client.refused());
                    self.messenger.client.perform(typed, Instant::now());
                }
                Ok(Err(problem)) => self.messenger.client.misunderstood(problem),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => self.is_over = true,
            }
            let news = self.messenger.carry_out();
            self.take(news);
        }
        false
    }

    fn gave_up(&self) -> Option<ChatError> {
        let client = &self.messenger.client;
        let trouble = || client.trouble().to_owned();
        if client.link() == Link::Ended {
            Some(ChatError::NotLetIn(trouble()))
        } else {
            (client.failures() >= ATTEMPTS_MAX).then(|| ChatError::GaveUp(trouble()))
        }
    }

    fn leave(mut self, out: &mut dyn Write, notes: &mut dyn Write) -> Result<(), ChatError> {
        self.show(out, notes, true).map_err(ChatError::Terminal)?;
        let refused = self.messenger.client.refused();
        if self.messenger.wire.close("left".into()) {
            let until = Instant::now() + CLOSE_WAIT;
            while let Ok(incoming) =
                self.messenger.incoming.recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                if matches!(incoming, Incoming::Lost(_)) {
                    break;
                }
            }
        }
        if refused == 0 { Ok(()) } else { Err(ChatError::Refused(refused)) }
    }

    /// Writes news items in order; a message waits for its author's name, and so does everything after it.
    fn show(&mut self, out: &mut dyn Write, notes: &mut dyn Write, at_once: bool) -> io::Result<()> {
        while let Some((came, news)) = self.news.front() {
            let is_awaited =
                self.people(news).iter().any(|person| self.messenger.client.people.is_awaited(person));
            let has_time = came.elapsed() < NAME_WAIT && self.news.len() < NEWS_MAX;
            if is_awaited && has_time && !at_once && self.messenger.client.is_in() {
                break;
            }
            let Some((_, news)) = self.news.pop_front() else { break };
            match self.shape {
                Shape::Text => self.write(&news, out, notes)?,
                Shape::Json => {
                    for object in json::objects(&self.messenger.client, &news) {
                        writeln!(out, "{object}")?;
                    }
                }
            }
        }
        out.flush()
    }

    /// Returns the people whose names appear in a news item.
    fn people<'a>(&self, news: &'a News) -> Vec<&'a str> {
        match news {
            News::Said(message) | News::Changed { message, .. } => vec![&message.sender],
            News::Page { messages, .. } => messages.iter().map(|message| message.sender.as_str()).collect(),
            News::Presence { person, .. } | News::Member { person, .. } => vec![person],
            News::Connecting
            | News::Joined
            | News::Opened { .. }
            | News::Skipped { .. }
            | News::Unread { .. }
            | News::Typing { .. }
            | News::Stored { .. }
            | News::Held { .. }
            | News::Told { .. }
            | News::Note(_)
            | News::Refused { .. }
            | News::Lost { .. }
            | News::Ended { .. } => vec![],
        }
    }

    fn write(&self, news: &News, out: &mut dyn Write, notes: &mut dyn Write) -> io::Result<()> {
        let client = &self.messenger.client;
        match news {
            News::Connecting
            | News::Typing { .. }
            | News::Unread { .. }
            | News::Stored { .. }
            | News::Presence { .. } => Ok(()),
            News::Joined => {
                let name = client.me().map_or("", |me| &me.name);
                writeln!(notes, "* {} joined #{}", one_line(name), client.room_name())
            }
            News::Opened { conversation } => {
                let unread = client.tab.get(conversation).map_or(0, |row| row.unread);
                writeln!(notes, "* opened {}, {unread} unread", one_line(&client.label(conversation)))
            }
            News::Said(message) => writeln!(out, "{}", self.line(message)),
            News::Changed { message, change } => {
                let place = one_line(&client.label(&message.conversation));
                writeln!(out, "[{place}] * {}", words::change(client, message, change))
            }
            News::Skipped { conversation, from, to } => {
                writeln!(notes, "* {}: #{from} to #{to} were skipped", one_line(&client.label(conversation)))
            }
            News::Page { title, messages, more } => {
                for message in messages {
                    writeln!(out, "{}", self.line(message))?;
                }
                let more = if *more { ", more available" } else { "" };
                let found = plural(messages.len() as u64, "message");
                writeln!(notes, "* {}: {found}{more}", one_line(title))
            }
            News::Held { text, reason, wait } => {
                let (text, reason) = (one_line(text), one_line(reason));
                writeln!(notes, "* {reason}; resending in {:.1} s: {text}", wait.as_secs_f64())
            }
            News::Told { lines, .. } => lines.iter().try_for_each(|line| writeln!(out, "{}", one_line(line))),
            News::Note(note) => writeln!(notes, "* {}", one_line(note)),
            News::Member { conversation, person, is_in } => {
                writeln!(notes, "* {}", words::member(client, conversation, person, *is_in))
            }
            News::Refused { what, reason, code: _ } => writeln!(notes, "* {}", words::refusal(what, reason)),
            News::Lost { reason, retry_in } => {
                writeln!(notes, "* {}; retrying in {:.1} s", one_line(reason), retry_in.as_secs_f64())
            }
            News::Ended { reason: _ } => Ok(()),
        }
    }

    /// Formats a message: `[#lobby 42] Ann: hi`.
    fn line(&self, message: &Message) -> String {
        let client = &self.messenger.client;
        let (place, name) = (client.label(&message.conversation), client.people.name(&message.sender));
        let answers = message.reply_to.map(|seq| format!(" (to #{seq})")).unwrap_or_default();
        let (body, marks) = (words::body(message), words::marks(message));
        format!("[{} {}] {}{answers}: {body}{marks}", one_line(&place), message.seq, one_line(name))
    }
}
