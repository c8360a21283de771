//! Text input: NFC, bounded length, no control characters.

use crate::problem::Problem;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Normalizes one line: a name, a title, a reaction. Trims it; the result is neither empty nor has control characters.
///
/// # Errors
/// Empty after trimming, too long, or contains a control character.
pub(crate) fn line(text: &str, bytes_max: usize) -> Result<String, Problem> {
    let text = clean(text.trim(), bytes_max, |_| false)?;
    if text.is_empty() { Err(Problem::length(1, bytes_max, "bytes")) } else { Ok(text) }
}

/// Normalizes several lines: a message, a topic. Tabs and line feeds are allowed; it may be empty.
///
/// # Errors
/// Too long, or contains another control character.
pub(crate) fn lines(text: &str, bytes_max: usize) -> Result<String, Problem> {
    clean(text, bytes_max, |character| matches!(character, '\n' | '\t'))
}

fn clean(text: &str, bytes_max: usize, allowed: fn(char) -> bool) -> Result<String, Problem> {
    // Check the length first: normalization takes time proportional to it.
    if text.len() > bytes_max {
        return Err(Problem::length(0, bytes_max, "bytes"));
    }
    if let Some(character) = text.chars().find(|&character| is_unwanted(character) && !allowed(character)) {
        let point = u32::from(character);
        return Err(Problem::new(
            "control_character",
            format!("contains the control character U+{point:04X}"),
        ));
    }
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Ok(text.to_owned());
    }
    let text: String = text.nfc().collect();
    // Some characters become longer when composed.
    if text.len() > bytes_max {
        Err(Problem::length(0, bytes_max, "bytes after Unicode normalization (NFC)"))
    } else {
        Ok(text)
    }
}

/// Control characters (Cc), and those that change the direction of the surrounding text, which can make a name or a
/// message look like another (UAX #9; "Trojan Source", CVE-2021-42574). Joiners are allowed: emoji need them.
fn is_unwanted(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_composed() {
        assert_eq!(lines("e\u{301}", 10).as_deref(), Ok("é"));
    }

    #[test]
    fn lines_may_be_several_and_a_line_may_not() {
        assert_eq!(lines("a\n\tb", 10).as_deref(), Ok("a\n\tb"));
        assert_eq!(line("a\nb", 10).map_err(|problem| problem.code), Err("control_character"));
        assert_eq!(line("  a  ", 10).as_deref(), Ok("a"));
        assert_eq!(line("   ", 10).map_err(|problem| problem.code), Err("length"));
    }

    #[test]
    fn control_characters_and_changes_of_direction_are_refused() {
        for character in
            ['\0', '\r', '\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2067}', '\u{2028}', '\u{feff}']
        {
            let text = format!("a{character}b");
            assert_eq!(
                lines(&text, 10).map_err(|problem| problem.code),
                Err("control_character"),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_bound_is_in_bytes_after_composing() {
        assert_eq!(lines("ééééé", 10).as_deref(), Ok("ééééé"));
        assert_eq!(lines("éééééx", 10).map_err(|problem| problem.code), Err("length"));
        // Two characters that NFC decomposes: three bytes become six.
        assert_eq!(lines("\u{1d15e}\u{1d15e}", 8).map_err(|problem| problem.code), Err("length"));
    }

    #[test]
    fn emoji_with_joiners_pass() {
        assert!(line("👩\u{200d}🚀", 64).is_ok());
    }
}
