//! The case files: groups of cases, each with its script.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::script::Script;

/// One conformance case, ready to be played.
#[derive(Clone, Debug)]
pub struct Case {
    /// As in section 8 of the reference: `H1`, `F16` …
    pub id: String,
    /// What must hold, as a sentence.
    pub title: String,
    /// The file it stands in, such as `handshake`.
    pub group: String,
    /// Where the reference leaves the server a choice: which, and what is accepted.
    pub note: Option<String>,
    /// It counts channels, or shares a topic: no other case may run beside it.
    pub alone: bool,
    /// It ends the server, so it needs one of its own.
    pub ends_server: bool,
    /// How often it may be tried: cases in which the server's clock runs may come too late on a busy machine.
    pub attempts: u32,
    /// What to do and to expect.
    pub(crate) script: Script,
}

/// A file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    /// For all cases of the file that do not say otherwise.
    #[serde(default = "once")]
    attempts: u32,
    /// Scripts that several cases begin with.
    #[serde(default)]
    setup: BTreeMap<String, String>,
    case: Vec<WrittenCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    id: String,
    title: String,
    note: Option<String>,
    #[serde(default)]
    alone: bool,
    #[serde(default)]
    ends_server: bool,
    attempts: Option<u32>,
    setup: Option<String>,
    script: String,
}

fn once() -> u32 {
    1
}

/// All cases of the `*.toml` files in `directory`, file by file in the order of their names.
///
/// # Errors
/// Names the file and the case that cannot be read, and why.
pub fn load(directory: &Path) -> Result<Vec<Case>, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let group = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        cases.extend(parse(&group, &text)?);
    }
    Ok(cases)
}

fn parse(group: &str, text: &str) -> Result<Vec<Case>, String> {
    let file: CaseFile = toml::from_str(text).map_err(|error| format!("{group}: {error}"))?;
    let CaseFile { attempts, setup, case } = file;
    let build = |written: WrittenCase| {
        let id = written.id.clone();
        build_case(group, attempts, &setup, written).map_err(|error| format!("{group}, {id}: {error}"))
    };
    case.into_iter().map(build).collect()
}

fn build_case(
    group: &str,
    attempts: u32,
    setups: &BTreeMap<String, String>,
    written: WrittenCase,
) -> Result<Case, String> {
    let setup = match &written.setup {
        Some(name) => setups.get(name).ok_or_else(|| format!("there is no setup `{name}`"))?,
        None => "",
    };
    Ok(Case {
        script: Script::parse(&format!("{setup}\n{}", written.script))?,
        id: written.id,
        title: written.title,
        group: group.to_owned(),
        note: written.note,
        alone: written.alone,
        ends_server: written.ends_server,
        attempts: written.attempts.unwrap_or(attempts),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_comes_before_the_cases_own_script() {
        let text = r#"
            [setup]
            first = "drain"
            [[case]]
            id = "X1"
            title = "t"
            setup = "first"
            script = "exits"
        "#;
        let cases = parse("group", text).expect("well formed");
        assert_eq!(cases[0].script.0.len(), 2);
        assert_eq!((cases[0].attempts, cases[0].alone), (1, false));
    }

    #[test]
    fn an_unknown_field_or_setup_is_an_error_that_names_the_case() {
        let case =
            |extra: &str| parse("g", &format!("[[case]]\nid='X1'\ntitle='t'\nscript='drain'\n{extra}"));
        assert!(case("").is_ok());
        assert!(case("colour = 'red'").is_err());
        assert!(case("setup = 'none'").expect_err("there is none").contains("X1"));
    }
}
