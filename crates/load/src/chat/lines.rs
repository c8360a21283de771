//! The chat line by line, for scripts and pipes: a line of standard input is said, what is said is written as
//! `name: text` to standard output, and everything else goes to standard error.

use std::io::{self, BufRead, Write};
use std::thread;

use crate::chat::{ChatError, Event, Session, one_line};

/// So many attempts in a row may fail.
const ATTEMPTS_MAX: u32 = 5;

pub(super) fn run(mut session: Session) -> Result<(), ChatError> {
    if let Some(speaker) = session.speaker() {
        session.finish();
        let read = move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if !line.is_empty() && !speaker.say(line) {
                    return;
                }
            }
        };
        // It is left behind when the session ends first: nothing can end a read of standard input.
        thread::Builder::new().name("stdin".into()).spawn(read).map_err(ChatError::Terminal)?;
    }
    show(&session, &mut io::stdout().lock(), &mut io::stderr().lock())
}

/// Writes until the session has ended.
fn show(session: &Session, out: &mut dyn Write, notes: &mut dyn Write) -> Result<(), ChatError> {
    let mut failures = 0;
    let mut unreached = None;
    while let Ok(event) = session.events().recv() {
        match &event {
            Event::Joined => (failures, unreached) = (0, None),
            Event::Lost { reason, retry_in } => {
                failures += 1;
                unreached = Some(reason.clone());
                if failures == ATTEMPTS_MAX || retry_in.is_zero() {
                    break;
                }
            }
            Event::Connecting
            | Event::Message { .. }
            | Event::People(_)
            | Event::Crowd(_)
            | Event::Arrived(_)
            | Event::Departed(_)
            | Event::NotSent { .. } => {}
        }
        write(&event, session, out, notes).map_err(ChatError::Terminal)?;
    }
    match unreached {
        Some(reason) => Err(ChatError::GaveUp(reason)),
        None => Ok(()),
    }
}

fn write(event: &Event, session: &Session, out: &mut dyn Write, notes: &mut dyn Write) -> io::Result<()> {
    match event {
        Event::Connecting | Event::People(_) | Event::Crowd(_) => return Ok(()),
        Event::Joined => writeln!(notes, "* {} is in {}", session.name(), session.room())?,
        Event::Message { name, body, own: _ } if name.is_empty() => writeln!(out, "{}", one_line(body))?,
        Event::Message { name, body, own: _ } => writeln!(out, "{}: {}", one_line(name), one_line(body))?,
        Event::Arrived(name) => writeln!(notes, "* {} came", one_line(name))?,
        Event::Departed(name) => writeln!(notes, "* {} went", one_line(name))?,
        Event::NotSent { body, reason } => {
            writeln!(notes, "* not sent: {}: {}", one_line(body), one_line(reason))?;
        }
        Event::Lost { reason, retry_in } => {
            writeln!(notes, "* {}; trying again in {:.1} s", one_line(reason), retry_in.as_secs_f64())?;
        }
    }
    out.flush()
}
