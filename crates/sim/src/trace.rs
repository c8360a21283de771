//! What happened in a run, line by line: its hash distinguishes runs, its end explains a failure.

use std::collections::VecDeque;
use std::fmt::{Arguments, Write as _};

/// Lines that a failure shows without a replay.
const TAIL_LINES: usize = 40;

/// The events of one run in their order.
pub(crate) struct Trace {
    hash: u64,
    lines: u64,
    tail: VecDeque<String>,
    sink: Option<fn(&str)>,
}

impl Trace {
    /// `sink` receives every line as it happens.
    pub(crate) fn new(sink: Option<fn(&str)>) -> Trace {
        Trace { hash: 0xCBF2_9CE4_8422_2325, lines: 0, tail: VecDeque::with_capacity(TAIL_LINES), sink }
    }

    pub(crate) fn line(&mut self, line: Arguments<'_>) {
        let full = self.tail.len() == TAIL_LINES;
        let mut text = if full { self.tail.pop_front().unwrap_or_default() } else { String::new() };
        text.clear();
        let _ = text.write_fmt(line);
        // FNV-1a.
        for byte in text.bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        self.lines += 1;
        if let Some(sink) = self.sink {
            sink(&text);
        }
        self.tail.push_back(text);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    pub(crate) fn into_tail(self) -> Vec<String> {
        self.tail.into()
    }
}
