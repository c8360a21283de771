//! What went over the wires during a case, for the reader of a failure.

use std::fmt;
use std::time::{Duration, Instant};

/// Characters of one entry that are shown.
const ENTRY_CHARS_MAX: usize = 400;
/// Entries shown; the last ones tell why a case failed.
const ENTRIES_SHOWN_MAX: usize = 40;

#[derive(Debug)]
struct Entry {
    at: Duration,
    who: char,
    arrow: &'static str,
    what: String,
}

/// The entries of one case in order.
#[derive(Debug)]
pub(crate) struct Transcript {
    started: Instant,
    entries: Vec<Entry>,
}

impl Transcript {
    /// An empty one, its clock at zero.
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), entries: Vec::new() }
    }

    /// `who` sent `what`.
    pub(crate) fn sent(&mut self, who: char, what: impl Into<String>) {
        self.note(who, "->", what.into());
    }

    /// `who` received `what`.
    pub(crate) fn received(&mut self, who: char, what: impl Into<String>) {
        self.note(who, "<-", what.into());
    }

    /// How long it is, for [`forget_since`](Self::forget_since).
    pub(crate) fn length(&self) -> usize {
        self.entries.len()
    }

    /// Drops the entries after the first `length`: a round that is tried again tells nothing.
    pub(crate) fn forget_since(&mut self, length: usize) {
        self.entries.truncate(length);
    }

    fn note(&mut self, who: char, arrow: &'static str, mut what: String) {
        if let Some((cut, _)) = what.char_indices().nth(ENTRY_CHARS_MAX) {
            what.truncate(cut);
            what.push('…');
        }
        self.entries.push(Entry { at: self.started.elapsed(), who, arrow, what });
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = self.entries.len().saturating_sub(ENTRIES_SHOWN_MAX);
        if hidden > 0 {
            writeln!(f, "    ({hidden} earlier entries)")?;
        }
        for entry in &self.entries[hidden..] {
            writeln!(f, "    {:>6} ms  {} {} {}", entry.at.as_millis(), entry.who, entry.arrow, entry.what)?;
        }
        Ok(())
    }
}
