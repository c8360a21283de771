//! A program on a terminal: what stands on its screen, and keys that are pressed.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use nix::pty::{Winsize, openpty};

use crate::wait_until;

/// Columns and rows of the terminal.
const COLUMNS: usize = 100;
const ROWS: usize = 30;

/// A terminal on which one program runs. The program is killed when this is dropped.
pub struct Terminal {
    process: Child,
    keyboard: File,
    screen: Arc<Mutex<Screen>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Starts a program on a terminal of its own.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let size = Winsize { ws_row: ROWS as u16, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).expect("the system has terminals");
        let end = || Stdio::from(pty.slave.try_clone().expect("a descriptor"));
        command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let process = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        // Only the program holds the other end now: reading ends when it does.
        drop(command);
        drop(pty.slave);
        let master = File::from(pty.master);
        let keyboard = master.try_clone().expect("a descriptor");
        let screen = Arc::new(Mutex::new(Screen::new()));
        let reader = Some(watch(master, &screen));
        Self { process, keyboard, screen, reader }
    }

    /// Presses keys: text, `\r` for Enter, `\x03` for Ctrl-C.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("it reads its keyboard");
    }

    /// What stands on the screen, line by line.
    #[must_use]
    pub fn screen(&self) -> String {
        self.with(Screen::text)
    }

    /// Whether the program has the whole screen for itself, apart from what was there before.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.with(|screen| screen.is_alternate)
    }

    /// Waits until a line of the screen has this in it, and returns that line.
    pub fn wait_for(&mut self, words: &str) -> String {
        let mut found = None;
        wait_until(&format!("the screen has {words:?}"), || {
            let screen = self.screen();
            found = screen.lines().find(|line| line.contains(words)).map(str::to_owned);
            let has_ended = found.is_none() && self.process.try_wait().expect("it is ours").is_some();
            assert!(!has_ended, "it has ended, and {words:?} is not on the screen:\n{screen}");
            found.is_some()
        });
        found.unwrap_or_default()
    }

    /// Waits for its end: the exit status, and what stands on the screen then.
    #[must_use]
    pub fn ended(mut self) -> (Option<i32>, String) {
        let mut status = None;
        wait_until("the program on the terminal ends", || {
            status = self.process.try_wait().expect("it is ours");
            status.is_some()
        });
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the screen is read to its end");
        }
        assert!(!self.is_whole(), "it gives the screen back:\n{}", self.screen());
        (status.and_then(|status| status.code()), self.screen())
    }

    fn with<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(&self.screen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn watch(mut master: File, screen: &Arc<Mutex<Screen>>) -> JoinHandle<()> {
    let screen = Arc::clone(screen);
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        let mut decoder = Vec::new();
        // The end of the last program on a terminal is an error of reading it.
        while let Ok(read @ 1..) = master.read(&mut bytes) {
            decoder.extend_from_slice(&bytes[..read]);
            let whole = match std::str::from_utf8(&decoder) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let text = String::from_utf8_lossy(&decoder[..whole]).into_owned();
            decoder.drain(..whole);
            let mut screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
            text.chars().for_each(|letter| screen.take(letter));
        }
    })
}

/// The cells of a terminal, as far as full-screen programs write them: letters, the cursor's moves, what is cleared.
struct Screen {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    is_alternate: bool,
    /// An escape sequence that has begun.
    sequence: Option<String>,
}

impl Screen {
    fn new() -> Self {
        let cells = vec![vec![' '; COLUMNS]; ROWS];
        Self { cells, row: 0, column: 0, is_alternate: false, sequence: None }
    }

    fn text(&self) -> String {
        let line = |cells: &Vec<char>| format!("{}\n", cells.iter().collect::<String>().trim_end());
        self.cells.iter().map(line).collect()
    }

    fn take(&mut self, letter: char) {
        if let Some(sequence) = &mut self.sequence {
            sequence.push(letter);
            let is_long = sequence.starts_with('[');
            let is_over = if is_long {
                sequence.len() > 1 && ('@'..='~').contains(&letter)
            } else {
                !matches!(letter, '(' | ')')
            };
            if is_over {
                let sequence = self.sequence.take().unwrap_or_default();
                self.obey(&sequence);
            }
            return;
        }
        match letter {
            '\u{1b}' => self.sequence = Some(String::new()),
            '\r' => self.column = 0,
            '\n' => self.next_line(),
            letter if letter.is_control() => {}
            letter => self.put(letter),
        }
    }

    fn put(&mut self, letter: char) {
        if self.column >= COLUMNS {
            self.column = 0;
            self.next_line();
        }
        self.cells[self.row][self.column] = letter;
        self.column += 1;
    }

    fn next_line(&mut self) {
        if self.row + 1 < ROWS {
            self.row += 1;
        } else {
            self.cells.remove(0);
            self.cells.push(vec![' '; COLUMNS]);
        }
    }

    /// Does what a sequence says. Colours and what cannot be seen change nothing.
    fn obey(&mut self, sequence: &str) {
        let Some(parameters) = sequence.strip_prefix('[') else { return };
        let (parameters, command) = parameters.split_at(parameters.len() - 1);
        if let Some(mode) = parameters.strip_prefix('?') {
            if mode == "1049" {
                self.is_alternate = command == "h";
                *self = Self { is_alternate: self.is_alternate, ..Self::new() };
            }
            return;
        }
        let numbers: Vec<usize> = parameters.split(';').map(|number| number.parse().unwrap_or(0)).collect();
        let number = |place: usize| numbers.get(place).copied().unwrap_or(0);
        let steps = number(0).max(1);
        match command {
            "H" | "f" => {
                self.row = number(0).clamp(1, ROWS) - 1;
                self.column = number(1).clamp(1, COLUMNS) - 1;
            }
            "A" => self.row = self.row.saturating_sub(steps),
            "B" => self.row = (self.row + steps).min(ROWS - 1),
            "C" => self.column = (self.column + steps).min(COLUMNS - 1),
            "D" => self.column = self.column.saturating_sub(steps),
            "G" => self.column = steps.min(COLUMNS) - 1,
            "d" => self.row = steps.min(ROWS) - 1,
            "K" => self.clear_line(number(0)),
            "J" if number(0) == 2 => self.cells = Self::new().cells,
            "J" => {
                self.clear_line(0);
                self.cells.iter_mut().skip(self.row + 1).for_each(|line| line.fill(' '));
            }
            _ => {}
        }
    }

    fn clear_line(&mut self, what: usize) {
        let column = self.column.min(COLUMNS);
        let line = &mut self.cells[self.row];
        match what {
            0 => line[column..].fill(' '),
            1 => line[..column].fill(' '),
            _ => line.fill(' '),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(written: &str) -> Screen {
        let mut screen = Screen::new();
        written.chars().for_each(|letter| screen.take(letter));
        screen
    }

    #[test]
    fn what_is_written_stands_where_the_cursor_was() {
        let screen = screen("\x1b[?1049h\x1b[2;3H\x1b[1;31mred\x1b[0m\r\nbelow\x1b[2;4H\x1b[K");
        assert_eq!(screen.text().lines().take(3).collect::<Vec<_>>(), ["", "  r", "below"]);
        assert!(screen.is_alternate);
    }

    #[test]
    fn a_full_screen_scrolls_and_another_one_is_empty() {
        let lines: String = (0..ROWS + 2).map(|number| format!("line {number}\r\n")).collect();
        let mut screen = screen(&lines);
        assert_eq!(screen.text().lines().next(), Some("line 3"));
        "\x1b[?1049l".chars().for_each(|letter| screen.take(letter));
        assert_eq!(screen.text().trim(), "");
    }
}
