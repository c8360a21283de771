//! Prints an examination on the terminal.

use std::io::{self, Write};

use super::amounts::{counted, grouped};
use super::bounds::Bound;
use super::checks::State;
use super::diagnosis::Diagnosis;
use super::examination::Examination;

/// The width at which lines are broken, in columns.
const WIDTH: usize = 100;
/// The width of names, in columns.
const NAME_WIDTH: usize = 16;
/// The width of a mark with its word, in columns.
const MARK_WIDTH: usize = 12;
/// Columns before the text of a check.
const CHECK_INDENT: usize = 2 + MARK_WIDTH + NAME_WIDTH + 1;

/// Whether to use colours. They repeat what mark and word say, so nothing is lost without them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    /// For a terminal.
    On,
    /// For files, pipes, and people who do not want them.
    Off,
}

/// Writes an examination for people to read.
///
/// # Errors
/// The errors of `out`.
pub fn print(out: &mut impl Write, examination: &Examination, colours: Colours) -> io::Result<()> {
    let mut page = Page { out, colours };
    page.heading(&format!("This machine: {}", examination.facts.name))?;
    for (name, value) in examination.facts.listed() {
        page.row(&name, &value)?;
    }
    for target in &examination.targets {
        page.heading(&format!("Target {}", target.title()))?;
        for (name, value) in target.listed() {
            page.row(&name, &value)?;
        }
    }
    page.heading("Checks")?;
    for check in &examination.diagnosis.checks {
        page.judged(check.state, &check.subject, "", &check.text)?;
        page.remedy(check.remedy.as_deref())?;
    }
    page.room(&examination.diagnosis)
}

struct Page<'a, W> {
    out: &'a mut W,
    colours: Colours,
}

impl<W: Write> Page<'_, W> {
    fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = self.styled("1", text);
        writeln!(self.out, "\n{text}")
    }

    fn row(&mut self, name: &str, value: &str) -> io::Result<()> {
        let indent = 2 + NAME_WIDTH + 1;
        let mut lines = wrapped(value, WIDTH - indent).into_iter();
        let first = lines.next().unwrap_or_default();
        let name = self.styled("2", &format!("{name:<NAME_WIDTH$}"));
        writeln!(self.out, "  {name} {first}")?;
        lines.try_for_each(|line| writeln!(self.out, "{:indent$}{line}", ""))
    }

    /// Writes a mark, the subject, an amount if there is one, and the text beside it.
    fn judged(&mut self, state: State, subject: &str, amount: &str, text: &str) -> io::Result<()> {
        let before = format!("{subject:<NAME_WIDTH$} {amount}");
        let indent = CHECK_INDENT + amount.chars().count();
        // A subject that is too long for its column pushes its text to the next line.
        let fits = subject.chars().count() <= NAME_WIDTH;
        let mut lines = wrapped(text, WIDTH.saturating_sub(indent)).into_iter();
        let first = if fits { lines.next().unwrap_or_default() } else { String::new() };
        let line = format!("  {}{before}{first}", self.mark(state));
        writeln!(self.out, "{}", line.trim_end())?;
        lines.try_for_each(|line| writeln!(self.out, "{:indent$}{line}", ""))
    }

    /// A command to copy stays on one line.
    fn remedy(&mut self, remedy: Option<&str>) -> io::Result<()> {
        let Some(remedy) = remedy else { return Ok(()) };
        let remedy = self.styled("36", &format!("→ {remedy}"));
        writeln!(self.out, "{:CHECK_INDENT$}{remedy}", "")
    }

    fn room(&mut self, diagnosis: &Diagnosis) -> io::Result<()> {
        let wanted = counted(diagnosis.clients, "client", "clients");
        self.heading(&format!("Capacity for {wanted}"))?;
        let width =
            diagnosis.bounds.iter().map(|bound| grouped(bound.clients).len()).max().unwrap_or_default();
        for bound in &diagnosis.bounds {
            let amount = format!("{:>width$}  ", grouped(bound.clients));
            self.judged(diagnosis.state_of(bound), bound.resource.label(), &amount, &bound.basis)?;
            self.remedy(bound.remedy.as_deref())?;
        }
        let verdict = verdict(diagnosis);
        let colour = colour(diagnosis.state());
        let verdict = self.styled(&format!("1;{colour}"), &verdict);
        writeln!(self.out, "\n{verdict}")?;
        self.settings(diagnosis)
    }

    /// Lines to paste are not wrapped.
    fn settings(&mut self, diagnosis: &Diagnosis) -> io::Result<()> {
        let settings = diagnosis.settings();
        if settings.is_empty() {
            return Ok(());
        }
        self.heading("Settings that raise the limits")?;
        let mut place = None;
        for setting in settings {
            if place.replace(setting.place) != Some(setting.place) {
                writeln!(self.out, "  {}", setting.place.title())?;
            }
            let line = self.styled("36", &setting.line());
            writeln!(self.out, "    {line}")?;
        }
        Ok(())
    }

    fn mark(&self, state: State) -> String {
        let (sign, word) = match state {
            State::Ok => ("✓", "ok"),
            State::Note => ("·", "note"),
            State::Caution => ("!", "caution"),
            State::Stop => ("✗", "stop"),
        };
        self.styled(colour(state), &format!("{:<MARK_WIDTH$}", format!("{sign} {word}")))
    }

    fn styled(&self, code: &str, text: &str) -> String {
        match self.colours {
            Colours::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Colours::Off => text.to_owned(),
        }
    }
}

fn colour(state: State) -> &'static str {
    match state {
        State::Ok => "32",
        State::Note => "34",
        State::Caution => "33",
        State::Stop => "31",
    }
}

fn verdict(diagnosis: &Diagnosis) -> String {
    let wanted = counted(diagnosis.clients, "client", "clients");
    let stops = diagnosis.checks.iter().filter(|check| check.state == State::Stop).count() as u64;
    let and_stops = match stops {
        0 => String::new(),
        1 => " In addition, one check marked stop must be resolved.".to_owned(),
        count => format!(" In addition, {count} checks marked stop must be resolved."),
    };
    let room = match (diagnosis.obstacle(), diagnosis.holds) {
        (Some(bound), _) => obstacle(bound, &wanted),
        (None, Some(holds)) => {
            let by = diagnosis.limited_by().map(|by| format!(" by {}", by.label())).unwrap_or_default();
            format!("This machine can hold {wanted}; its limit is {}{by}.", grouped(holds))
        }
        (None, None) => {
            format!("It is not known whether this machine can hold {wanted}: no limit could be read.")
        }
    };
    format!("{room}{and_stops}")
}

fn obstacle(bound: &Bound, wanted: &str) -> String {
    format!(
        "This machine can hold {} of {wanted}: the first limit is {}.",
        grouped(bound.clients),
        bound.resource.label()
    )
}

/// Breaks a text at spaces into lines of at most `width` characters, except words that are longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facts, Requirements, diagnose};

    fn printed(clients: u64, colours: Colours) -> String {
        let json = include_str!("../../../testdata/doctor/two-cores.json");
        let facts: Facts = serde_json::from_str(json).expect("captured facts");
        let diagnosis = diagnose(&facts, &Requirements { clients, ..Requirements::default() });
        let examination = Examination { facts, targets: Vec::new(), diagnosis };
        let mut out = Vec::new();
        print(&mut out, &examination, colours).expect("memory takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_limit_is_said_in_words_with_its_remedy() {
        let text = printed(100_000, Colours::Off);
        for expected in [
            "✗ stop      source ports",
            "1 source address × 28,232 ports × 1 target",
            "→ more source addresses: 4",
            "This machine can hold 28,232 of 100,000 clients: the first limit is source ports.",
            "tcp_tw_recycle",
        ] {
            assert!(text.contains(expected), "{expected} is missing in {text}");
        }
    }

    #[test]
    fn colours_add_nothing_but_themselves() {
        let coloured = printed(100_000, Colours::On);
        let codes = regex::Regex::new("\u{1b}\\[[0-9;]*m").expect("a pattern");
        assert_ne!(coloured, printed(100_000, Colours::Off));
        assert_eq!(codes.replace_all(&coloured, ""), printed(100_000, Colours::Off));
    }

    #[test]
    fn lines_fit_except_what_people_copy() {
        for line in printed(2_000_000, Colours::Off).lines().filter(|line| !line.contains('→')) {
            assert!(line.chars().count() <= WIDTH, "{line}");
            assert_eq!(line.trim_end(), line);
        }
    }

    #[test]
    fn texts_are_broken_at_blanks() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 3), ["unbreakable"]);
        assert_eq!(wrapped("", 10), [""]);
    }
}
