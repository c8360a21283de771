//! Feeders: CSV files (RFC 4180), read into memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::super::plan::{Action, Expression, Feeder, FeederId, Step};
use super::super::source;
use super::super::source::Order;
use super::{Compiler, Names};

/// Maximum size of one file in bytes.
const FEEDER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Maximum number of columns in one file.
const COLUMNS_MAX: usize = 1000;
/// Maximum number of feeders in one scenario.
const FEEDERS_MAX: usize = 1000;

impl Compiler<'_> {
    pub(super) fn feeders(&mut self) {
        let scenario = self.scenario;
        self.within("feeders", |compiler| {
            if scenario.feeders.len() > FEEDERS_MAX {
                compiler.complain(format!("more than {FEEDERS_MAX} feeders"));
            }
            for (name, feeder) in scenario.feeders.iter().take(FEEDERS_MAX) {
                compiler.within(name, |compiler| {
                    compiler.check_name(name);
                    let feeder = compiler.feeder(name, feeder);
                    compiler.names.feeders.push(feeder);
                });
            }
        });
    }

    fn feeder(&mut self, name: &str, feeder: &source::Feeder) -> Feeder {
        let path = self.context.base_dir.join(&feeder.file);
        let (columns, rows) = match read_rows(&path, feeder) {
            Ok(table) => table,
            Err(message) => {
                self.complain_at("file", format!("{}: {message}", feeder.file));
                // Without this, every reference to a column of the unreadable file would be reported as well.
                (feeder.columns.clone(), Vec::new())
            }
        };
        Feeder { name: name.to_owned(), columns, rows: Arc::new(rows), random: feeder.order == Order::Random }
    }
}

type Table = (Vec<String>, Vec<Vec<String>>);

fn read_rows(path: &Path, feeder: &source::Feeder) -> Result<Table, String> {
    let separator = u8::try_from(feeder.separator).ok().filter(u8::is_ascii);
    let separator = separator.ok_or_else(|| format!("`{}` cannot separate columns", feeder.separator))?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
    file.take(FEEDER_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > FEEDER_BYTES_MAX {
        return Err(format!("larger than {FEEDER_BYTES_MAX} bytes"));
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(feeder.columns.is_empty())
        .from_reader(bytes.as_slice());
    let columns = if feeder.columns.is_empty() {
        let headers = reader.headers().map_err(|error| error.to_string())?;
        headers.iter().map(|column| column.trim().to_owned()).collect()
    } else {
        feeder.columns.clone()
    };
    check_columns(&columns)?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        if record.len() != columns.len() {
            let line = record.position().map_or(0, csv::Position::line);
            return Err(format!("line {line} has {} values for {} columns", record.len(), columns.len()));
        }
        rows.push(record.iter().map(str::to_owned).collect());
    }
    if rows.is_empty() { Err("has no rows".to_owned()) } else { Ok((columns, rows)) }
}

fn check_columns(columns: &[String]) -> Result<(), String> {
    if columns.len() > COLUMNS_MAX {
        return Err(format!("has more than {COLUMNS_MAX} columns"));
    }
    for (index, column) in columns.iter().enumerate() {
        if column.is_empty() {
            return Err(format!("column {} has no name", index + 1));
        }
        if columns[..index].contains(column) {
            return Err(format!("has two columns `{column}`"));
        }
    }
    Ok(())
}

/// After each step that takes a row, inserts steps that set the variables of all columns used anywhere. Which columns
/// are used is known only after all sessions have been compiled.
pub(super) fn set_columns(steps: &mut Vec<Step>, names: &Names) {
    let mut index = 0;
    while let Some(step) = steps.get_mut(index) {
        index += 1;
        match &mut step.action {
            Action::Set(_, Expression::FeederRow(feeder)) => {
                let sets = column_sets(*feeder, names);
                let count = sets.len();
                steps.splice(index..index, sets);
                index += count;
            }
            Action::Loop(inner) => set_columns(&mut inner.steps, names),
            Action::If { then, otherwise, .. } => {
                set_columns(then, names);
                set_columns(otherwise, names);
            }
            Action::Choose(branches) => branches.iter_mut().for_each(|(_, steps)| set_columns(steps, names)),
            Action::Transaction(inner) => set_columns(inner, names),
            Action::Connect(_)
            | Action::Join(_)
            | Action::Leave(_)
            | Action::Push(_)
            | Action::Send(_)
            | Action::Wait(_)
            | Action::Think(_)
            | Action::Pace(_)
            | Action::Barrier { .. }
            | Action::Set(..)
            | Action::Capture(..)
            | Action::Http(_)
            | Action::Close { .. }
            | Action::Cut
            | Action::HalfOpen(_)
            | Action::SlowReader(_)
            | Action::Stay
            | Action::Abort(_) => {}
        }
    }
}

fn column_sets(feeder: FeederId, names: &Names) -> Vec<Step> {
    let used = names.columns.iter().filter(|(of, _, _)| *of == feeder.0);
    used.map(|(_, column, variable)| Step {
        label: None,
        action: Action::Set(*variable, Expression::FeederColumn(feeder, *column)),
    })
    .collect()
}
