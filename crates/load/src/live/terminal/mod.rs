//! The run on a full-screen terminal, redrawn a few times a second. Restores the terminal however it ends, including a
//! panic on any thread.

mod compact;
mod full;
mod palette;
mod sparkline;

use std::io::{self, IsTerminal};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;

use crate::live::{Board, Stage, Status, Stop};
use crate::statistics::SeriesRow;
pub(crate) use palette::Palette;

/// Maximum delay before a key press or a newer status is handled.
const REDRAW_INTERVAL: Duration = Duration::from_millis(250);
/// Number of seconds that the sparklines show.
const ROWS_SHOWN_MAX: usize = 240;
/// Minimum width of the full view.
const FULL_WIDTH: u16 = 76;
const FULL_HEIGHT: u16 = 21;

/// Returns whether standard output is a terminal that can be drawn on.
pub fn is_possible() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Shows the run until it has ended. `q` and Ctrl-C request an orderly stop, and when pressed again an immediate one.
///
/// # Errors
/// An error of the terminal; [`io::ErrorKind::Interrupted`] if the user asked a third time, to leave regardless of the
/// run.
pub fn run(board: &Board) -> io::Result<()> {
    let palette = Palette::of_environment();
    let mut screen = Screen::open()?;
    loop {
        let status = board.status();
        if status.stage == Stage::Ended {
            return Ok(());
        }
        let (rows, stop) = (board.recent(ROWS_SHOWN_MAX), board.stop());
        let view = View { status: &status, rows: &rows, stop, palette };
        screen.check()?;
        screen.terminal.draw(|frame| view.draw(frame))?;
        if !event::poll(REDRAW_INTERVAL)? {
            continue;
        }
        match event::read()? {
            Event::Key(key) if asks_to_stop(key) => match stop {
                Stop::No => board.request_stop(Stop::Orderly),
                Stop::Orderly => board.request_stop(Stop::AtOnce),
                Stop::AtOnce => return Err(io::ErrorKind::Interrupted.into()),
            },
            // A new size is picked up by the next redraw.
            Event::Key(_)
            | Event::Resize(..)
            | Event::Mouse(_)
            | Event::Paste(_)
            | Event::FocusGained
            | Event::FocusLost => {}
        }
    }
}

fn asks_to_stop(key: KeyEvent) -> bool {
    let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('c') => with_control,
            KeyCode::Char(letter) => matches!(letter, 'q' | 'Q') && !with_control,
            _ => false,
        }
}

/// A terminal in raw mode with its alternate screen, restored on drop.
pub(crate) struct Screen {
    pub(crate) terminal: ratatui::DefaultTerminal,
}

impl Screen {
    pub(crate) fn open() -> io::Result<Self> {
        // Also installs a hook that restores the terminal on a panic of any thread, before the message is printed.
        Ok(Self { terminal: ratatui::try_init()? })
    }

    /// Returns an error if the terminal has been restored because of a panic.
    pub(crate) fn check(&self) -> io::Result<()> {
        if crossterm::terminal::is_raw_mode_enabled()? {
            Ok(())
        } else {
            Err(io::Error::other("a part of the program failed"))
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Restoring the terminal a second time would overwrite the panic message.
        if self.check().is_ok() {
            ratatui::restore();
        }
    }
}

/// The data of one redraw.
struct View<'a> {
    status: &'a Status,
    /// The most recent seconds, oldest first.
    rows: &'a [SeriesRow],
    stop: Stop,
    palette: Palette,
}

impl View<'_> {
    fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area.width >= FULL_WIDTH && area.height >= FULL_HEIGHT {
            self.draw_full(frame, area);
        } else {
            self.draw_compact(frame, area);
        }
    }
}

#[cfg(test)]
mod tests;
