//! An examination on the terminal.

use std::io::{self, Write};

use super::amounts::{counted, grouped};
use super::bounds::Bound;
use super::checks::State;
use super::diagnosis::Diagnosis;
use super::examination::Examination;

/// Columns that lines are broken at.
const WIDTH: usize = 100;
/// Columns of names.
const NAME_WIDTH: usize = 16;
/// Columns of a mark with its word.
const MARK_WIDTH: usize = 12;

/// Whether to use colours. They repeat what mark and word say, so nothing is lost without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colours {
    /// For a terminal.
    On,
    /// For files, pipes, and people who do not want them.
    Off,
}

/// Writes an examination for people.
///
/// # Errors
/// Those of `out`.
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
        page.judged(check.state, &check.subject, &check.text, check.remedy.as_deref())?;
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

    fn judged(&mut self, state: State, subject: &str, text: &str, remedy: Option<&str>) -> io::Result<()> {
        let indent = 2 + MARK_WIDTH + NAME_WIDTH + 1;
        // A subject that is too long for its column pushes its text to the next line.
        let fits = subject.chars().count() <= NAME_WIDTH;
        let mut lines = wrapped(text, WIDTH - indent).into_iter();
        let first = if fits { lines.next().unwrap_or_default() } else { String::new() };
        let mark = self.mark(state);
        let line = format!("  {mark}{subject:<NAME_WIDTH$} {first}");
        writeln!(self.out, "{}", line.trim_end())?;
        lines.try_for_each(|line| writeln!(self.out, "{:indent$}{line}", ""))?;
        self.remedy(remedy, indent)
    }

    /// What people copy stays on one line.
    fn remedy(&mut self, remedy: Option<&str>, indent: usize) -> io::Result<()> {
        let Some(remedy) = remedy else { return Ok(()) };
        let remedy = self.styled("36", &format!("→ {remedy}"));
        writeln!(self.out, "{:indent$}{remedy}", "")
    }

    fn room(&mut self, diagnosis: &Diagnosis) -> io::Result<()> {
        let wanted = counted(diagnosis.clients, "client", "clients");
        self.heading(&format!("Room for {wanted}"))?;
        let width =
            diagnosis.bounds.iter().map(|bound| grouped(bound.clients).len()).max().unwrap_or_default();
        for bound in &diagnosis.bounds {
            let text = format!("{:>width$}  {}", grouped(bound.clients), bound.basis);
            let state = diagnosis.state_of(bound);
            self.judged(state, bound.resource.label(), &text, bound.remedy.as_deref())?;
        }
        let verdict = verdict(diagnosis);
        let colour = colour(diagnosis.state());
        let verdict = self.styled(&format!("1;{colour}"), &verdict);
        writeln!(self.out, "\n{verdict}")
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
        count => format!(" {} above must be cleared first.", counted(count, "stop", "stops")),
    };
    let room = match (diagnosis.obstacle(), diagnosis.holds) {
        (Some(bound), _) => obstacle(bound, &wanted),
        (None, Some(holds)) => format!("This machine can hold {wanted}; its limit is {}.", grouped(holds)),
        (None, None) => {
            format!("Whether this machine can hold {wanted} is not known: no limit could be read.")
        }
    };
    format!("{room}{and_stops}")
}

fn obstacle(bound: &Bound, wanted: &str) -> String {
    format!(
        "This machine can hold {} of {wanted}: {} stop it first.",
        grouped(bound.clients),
        bound.resource.label()
    )
}

/// Breaks a text at blanks into lines of at most `width` characters, except words that are longer.
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
