//! `%%_name%%` and `%%module:function%%` in texts.

use std::collections::BTreeSet;

use super::document::Element;
use super::sessions::SessionReader;
use crate::scenario::literal;

const MARK: &str = "%%";
/// The only supported function: a number that is unique in the run.
const UNIQUE_ID: &str = "ts_user_server:get_unique_id";

/// A piece of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
    Call(&'t str),
}

/// Returns the variables that a session reads anywhere.
pub(super) fn variables_used<'d>(session: Element<'d>) -> BTreeSet<&'d str> {
    let mut used = BTreeSet::new();
    let mut read = |text: &'d str| {
        used.extend(pieces(text).into_iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name),
            Piece::Text(_) | Piece::Call(_) => None,
        }));
    };
    let mut named = Vec::new();
    for element in session.descendants() {
        read(element.text());
        for (name, value) in element.attributes() {
            read(value);
            match (element.name(), name) {
                ("if" | "while" | "until", "var") | ("foreach", "in") | ("setdynvars", "from") => {
                    named.push(value);
                }
                _ => {}
            }
        }
    }
    used.extend(named);
    used
}

impl SessionReader<'_, '_> {
    /// Converts a text to a template; without `subst` it stands for itself.
    pub(super) fn template(
        &mut self,
        element: Element<'_>,
        attribute: Option<&str>,
        text: &str,
        subst: bool,
    ) -> String {
        if !subst {
            return literal(text);
        }
        let mut template = String::with_capacity(text.len());
        for piece in pieces(text) {
            let hole = match piece {
                Piece::Text(text) => {
                    template.push_str(&literal(text));
                    continue;
                }
                Piece::Variable(name) => self.variables.read(name),
                Piece::Call(UNIQUE_ID) => "{{unique_id}}".to_owned(),
                Piece::Call(function) => {
                    let what_to_do = "its place is empty; put a value there by setdynvars";
                    let text = format!("the result of {function}");
                    self.findings.unsupported(element, attribute, text, what_to_do);
                    continue;
                }
            };
            if template.ends_with('\\') {
                let message = "a backslash right before a substitution cannot be written in a scenario";
                self.findings.problem(element, attribute, message, None);
            }
            template.push_str(&hole);
        }
        template
    }
}

/// Splits a text; anything that is not a substitution, or is unterminated, is literal text.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut begin, mut from) = (0, 0);
    while let Some(mark) = text[from..].find(MARK).map(|place| from + place) {
        let inner = mark + MARK.len();
        let Some(end) = text[inner..].find(MARK).map(|place| inner + place) else { break };
        let Some(piece) = substitution(&text[inner..end]) else {
            // The second mark may begin a substitution.
            from = end.max(inner);
            continue;
        };
        if begin < mark {
            pieces.push(Piece::Text(&text[begin..mark]));
        }
        pieces.push(piece);
        (begin, from) = (end + MARK.len(), end + MARK.len());
    }
    if begin < text.len() {
        pieces.push(Piece::Text(&text[begin..]));
    }
    pieces
}

fn substitution(inner: &str) -> Option<Piece<'_>> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    match inner.strip_prefix('_') {
        Some(name) => is_name(name).then_some(Piece::Variable(name)),
        None => {
            let (module, function) = inner.split_once(':')?;
            (is_name(module) && is_name(function)).then_some(Piece::Call(inner))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_fall_into_pieces() {
        use Piece::{Call, Text, Variable};
        let table: [(&str, Vec<Piece<'_>>); 9] = [
            ("", vec![]),
            ("plain 100%", vec![Text("plain 100%")]),
            ("%%_a%%", vec![Variable("a")]),
            ("x%%_a%%y%%_b%%", vec![Text("x"), Variable("a"), Text("y"), Variable("b")]),
            ("%%m:f%%", vec![Call("m:f")]),
            ("%%_a", vec![Text("%%_a")]),
            ("%%no%%", vec![Text("%%no%%")]),
            ("100%% of %%_a%%", vec![Text("100%% of "), Variable("a")]),
            ("%%%%", vec![Text("%%%%")]),
        ];
        for (text, expected) in table {
            assert_eq!(pieces(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_part_of_a_text_gets_lost(text in "[%_a:é ]{0,30}") {
            let joined: String = pieces(&text).into_iter().map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Variable(name) => format!("%%_{name}%%"),
                Piece::Call(function) => format!("%%{function}%%"),
            }).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
