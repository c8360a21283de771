//! Notes between messages: answers, refusals, lost connections.

use std::collections::VecDeque;

/// Maximum number of notes kept; beyond it the oldest are dropped.
const NOTES_MAX: usize = 300;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tone {
    Quiet,
    Warning,
    Bad,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Note {
    /// The conversation in which it is shown; `None` if none was open.
    conversation: Option<String>,
    /// Sequence number of the message after which it is shown.
    pub(super) after: u64,
    pub(super) tone: Tone,
    pub(super) lines: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Notes(VecDeque<Note>);

impl Notes {
    pub(super) fn add(&mut self, conversation: Option<String>, after: u64, tone: Tone, lines: Vec<String>) {
        let note = Note { conversation, after, tone, lines };
        // Repeated connection errors are noted once.
        if self.0.back() == Some(&note) && tone == Tone::Bad {
            return;
        }
        if self.0.len() == NOTES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(note);
    }

    /// Returns the notes of a conversation, newest first.
    pub(super) fn of<'a>(&'a self, conversation: Option<&'a str>) -> impl Iterator<Item = &'a Note> {
        let is_there =
            move |note: &&Note| note.conversation.is_none() || note.conversation.as_deref() == conversation;
        self.0.iter().rev().filter(is_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_stay_where_they_were_and_have_a_bound() {
        let mut notes = Notes::default();
        notes.add(None, 0, Tone::Bad, vec!["refused".into()]);
        notes.add(None, 0, Tone::Bad, vec!["refused".into()]);
        notes.add(Some("a".into()), 3, Tone::Quiet, vec!["here".into()]);
        let texts = |id| notes.of(Some(id)).map(|note| note.lines[0].clone()).collect::<Vec<_>>();
        assert_eq!(
            (texts("a"), texts("b")),
            (vec!["here".to_owned(), "refused".into()], vec!["refused".to_owned()])
        );
        for number in 0..2 * NOTES_MAX {
            notes.add(None, 0, Tone::Quiet, vec![number.to_string()]);
        }
        assert_eq!(notes.0.len(), NOTES_MAX);
    }
}
