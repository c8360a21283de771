//! Fields of a token, with their types and bounds.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ClaimFault, Refusal, UnixSeconds};

/// The last accepted second: the end of the year 9999. A larger number is a mistake, such as milliseconds, and numbers
/// above 2^53 are not exact in JSON.
const SECONDS_MAX: f64 = 253_402_300_799.0;

/// Parses a JSON object. Serde alone would also accept an array of the members in order.
pub(super) fn object<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    let begins_as_one = json.trim_ascii_start().starts_with(b"{");
    begins_as_one.then(|| serde_json::from_slice(json).ok()).flatten()
}

/// Text that is not blank, has at most `bytes_max` bytes, no control characters, and no leading or trailing whitespace.
pub(super) fn text(value: &Value, name: &'static str, bytes_max: usize) -> Result<String, Refusal> {
    let text = value.as_str().ok_or_else(|| wrong_type(name, "a string"))?;
    let fault = if text.trim().is_empty() {
        ClaimFault::Empty
    } else if text.len() > bytes_max {
        ClaimFault::TooLong { max: bytes_max }
    } else if text.trim() != text || text.chars().any(is_not_text) {
        ClaimFault::Character
    } else {
        return Ok(text.to_owned());
    };
    Err(Refusal::claim(name, fault))
}

/// A person's id. It appears in topics and URLs, so it is visible ASCII without characters that would split or quote
/// those; ids that begin with `~` are reserved.
pub(super) fn subject(value: &Value, name: &'static str, bytes_max: usize) -> Result<String, Refusal> {
    let text = text(value, name, bytes_max)?;
    let fits = |byte: u8| byte.is_ascii_graphic() && !b"/\"\\".contains(&byte);
    if text.bytes().all(fits) && !text.starts_with('~') {
        Ok(text)
    } else {
        Err(Refusal::claim(name, ClaimFault::Character))
    }
}

/// Up to `entries_max` texts.
pub(super) fn texts(
    value: &Value,
    name: &'static str,
    entries_max: usize,
    bytes_max: usize,
) -> Result<Vec<String>, Refusal> {
    let entries = value.as_array().ok_or_else(|| wrong_type(name, "an array of strings"))?;
    if entries.len() > entries_max {
        return Err(Refusal::claim(name, ClaimFault::TooLong { max: entries_max }));
    }
    entries.iter().map(|entry| text(entry, name, bytes_max)).collect()
}

/// A `NumericDate`; a fraction (RFC 7519, section 2) is truncated.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked before")]
pub(super) fn seconds(value: &Value, name: &'static str) -> Result<UnixSeconds, Refusal> {
    let expected = "seconds since 1970, as a number";
    let number = value.as_f64().ok_or_else(|| wrong_type(name, expected))?;
    if (0.0..=SECONDS_MAX).contains(&number) {
        Ok(UnixSeconds(number as u64))
    } else {
        Err(wrong_type(name, expected))
    }
}

/// The URL of a picture. Pages put it into an attribute, so it must contain nothing that would end one, and no scheme
/// that executes anything.
pub(super) fn address(value: &Value, name: &'static str, bytes_max: usize) -> Result<String, Refusal> {
    let text = text(value, name, bytes_max)?;
    let host_follows = text
        .strip_prefix("https://")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['));
    let harmless = |c: char| c.is_ascii_graphic() && !"\"'<>\\^`{|}".contains(c);
    if host_follows && text.chars().all(harmless) {
        Ok(text)
    } else {
        Err(Refusal::claim(name, ClaimFault::Address))
    }
}

/// Control characters, and those that change the direction of the text after them: a name with one could rewrite the
/// line that it appears in (Unicode TR 36, section 2).
fn is_not_text(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn wrong_type(name: &'static str, expected: &'static str) -> Refusal {
    Refusal::claim(name, ClaimFault::Type { expected })
}
