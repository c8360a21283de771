//! The input line and its key bindings.

use std::collections::VecDeque;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Maximum length of a line in bytes; Throng's limit for a message.
const BYTES_MAX: usize = 8192;
const HISTORY_MAX: usize = 100;

/// A line with a cursor, and a history of previous lines.
#[derive(Debug, Default)]
pub(super) struct Input {
    text: String,
    /// A byte offset at a grapheme boundary.
    cursor: usize,
    history: VecDeque<String>,
    /// Index of the recalled history entry, from the newest.
    recalled: Option<usize>,
}

/// The result of a key press.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Typed {
    /// The line may have changed.
    Edited,
    /// The line is complete.
    Line(String),
    /// The key has no binding here.
    Other,
}

impl Input {
    pub(super) fn key(&mut self, key: KeyEvent) -> Typed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Typed::Line(self.take()),
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Char('u') if control => drop(self.text.drain(..std::mem::take(&mut self.cursor))),
            KeyCode::Char('k') if control => self.text.truncate(self.cursor),
            KeyCode::Char('w') if control => self.delete_word(),
            KeyCode::Char(typed) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.insert(typed)
            }
            KeyCode::Backspace => self.delete_before(),
            KeyCode::Delete => drop(self.text.drain(self.cursor..self.next())),
            KeyCode::Left => self.cursor = self.previous(),
            KeyCode::Right => self.cursor = self.next(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            KeyCode::Up => self.recall(self.recalled.map_or(0, |at| at + 1)),
            KeyCode::Down => match self.recalled {
                Some(at) if at > 0 => self.recall(at - 1),
                Some(_) => {
                    self.recalled = None;
                    self.set(String::new());
                }
                None => {}
            },
            _ => return Typed::Other,
        }
        Typed::Edited
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Restores a line that could not be sent.
    pub(super) fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Returns the part of the line that fits the given width, and the cursor's column in it.
    pub(super) fn window(&self, columns: usize) -> (&str, usize) {
        let mut from = 0;
        let before = &self.text[..self.cursor];
        let mut width = before.width();
        for grapheme in before.graphemes(true) {
            if width < columns {
                break;
            }
            width -= grapheme.width();
            from += grapheme.len();
        }
        (&self.text[from..], width)
    }

    fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.recalled = None;
        if !text.is_empty() && self.history.front() != Some(&text) {
            self.history.push_front(text.clone());
            self.history.truncate(HISTORY_MAX);
        }
        text
    }

    fn insert(&mut self, typed: char) {
        if self.text.len() + typed.len_utf8() <= BYTES_MAX && !typed.is_control() {
            self.text.insert(self.cursor, typed);
            self.cursor += typed.len_utf8();
        }
    }

    fn delete_before(&mut self) {
        let previous = self.previous();
        self.text.drain(previous..self.cursor);
        self.cursor = previous;
    }

    fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let from = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    fn recall(&mut self, at: usize) {
        if let Some(line) = self.history.get(at).cloned() {
            self.recalled = Some(at);
            self.set(line);
        }
    }

    fn previous(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        self.text[self.cursor..]
            .graphemes(true)
            .next()
            .map_or(self.cursor, |grapheme| self.cursor + grapheme.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn press(input: &mut Input, code: KeyCode) -> Typed {
        input.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn control(input: &mut Input, letter: char) {
        input.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL));
    }

    fn typed(text: &str) -> Input {
        let mut input = Input::default();
        text.chars().for_each(|letter| input.insert(letter));
        input
    }

    #[test]
    fn a_character_is_what_people_see_as_one() {
        let mut input = typed("a👩‍👩‍👧e\u{301}");
        press(&mut input, KeyCode::Backspace);
        assert_eq!(input.text, "a👩‍👩‍👧");
        press(&mut input, KeyCode::Left);
        press(&mut input, KeyCode::Delete);
        assert_eq!(input.text, "a");
    }

    #[test]
    fn the_usual_keys_edit() {
        let mut input = typed("one two  three");
        control(&mut input, 'w');
        assert_eq!(input.text, "one two  ");
        control(&mut input, 'a');
        press(&mut input, KeyCode::Char('>'));
        assert_eq!(input.text, ">one two  ");
        control(&mut input, 'k');
        assert_eq!(input.text, ">");
        control(&mut input, 'u');
        assert_eq!(input.text, "");
    }

    #[test]
    fn earlier_lines_come_back() {
        let mut input = Input::default();
        for line in ["one", "two"] {
            input.set(line.into());
            assert_eq!(press(&mut input, KeyCode::Enter), Typed::Line(line.into()));
        }
        for (code, shown) in [
            (KeyCode::Up, "two"),
            (KeyCode::Up, "one"),
            (KeyCode::Up, "one"),
            (KeyCode::Down, "two"),
            (KeyCode::Down, ""),
        ] {
            press(&mut input, code);
            assert_eq!(input.text, shown);
        }
    }

    #[test]
    fn the_cursor_stays_in_sight() {
        let input = typed("0123456789");
        assert_eq!(input.window(20), ("0123456789", 10));
        assert_eq!(input.window(5), ("6789", 4));
    }

    proptest! {
        #[test]
        fn no_keys_break_the_line(keys in proptest::collection::vec(0..12_usize, 0..200), text in ".{0,20}", columns in 0..40_usize) {
            let mut input = typed(&text);
            for key in keys {
                let codes = [KeyCode::Left, KeyCode::Right, KeyCode::Home, KeyCode::End, KeyCode::Backspace, KeyCode::Delete, KeyCode::Up, KeyCode::Down, KeyCode::Char('é'), KeyCode::Char('漢')];
                match codes.get(key) {
                    Some(code) => drop(press(&mut input, *code)),
                    None if key == 10 => control(&mut input, 'w'),
                    None => control(&mut input, 'u'),
                }
                input.window(columns);
                prop_assert!(input.text.is_char_boundary(input.cursor));
            }
        }
    }
}
