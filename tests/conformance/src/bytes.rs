//! The notation for bytes: `00 #"1" #"$room" "1" "$room" DE AD`.
//!
//! Two hex digits are one byte; a text in double or single quotes is its UTF-8, without escapes; `#`
//! before a text is its length as one byte; `*` at the end of an expectation is any rest.

use crate::failure::Failure;
use crate::variables::Variables;

/// One token of the notation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    Text(String),
    LengthOf(String),
    AnyRest,
}

/// A run of bytes as a script writes it, before its names have values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(Vec<Token>);

impl Bytes {
    /// Reads the notation.
    ///
    /// # Errors
    /// Says which token is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (token, after) = next_token(rest)?;
            if tokens.last() == Some(&Token::AnyRest) {
                return Err(format!("nothing may follow `*` in {text}"));
            }
            tokens.push(token);
            rest = after.trim_start();
        }
        Ok(Self(tokens))
    }

    /// The bytes to send.
    ///
    /// # Errors
    /// A name without a value, a `*`, or a text too long for its length byte is a mistake of the script.
    pub(crate) fn fill(&self, variables: &Variables) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        for token in &self.0 {
            match token {
                Token::Byte(byte) => bytes.push(*byte),
                Token::Text(text) => bytes.extend_from_slice(variables.fill(text)?.as_bytes()),
                Token::LengthOf(text) => bytes.push(length_byte(&variables.fill(text)?)?),
                Token::AnyRest => return Err(Failure::script("`*` can only be expected, not sent")),
            }
        }
        Ok(bytes)
    }

    /// Whether `received` is what the notation describes.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub(crate) fn matches(&self, received: &[u8], variables: &Variables) -> Result<bool, Failure> {
        match self.0.split_last() {
            Some((Token::AnyRest, start)) => Ok(received.starts_with(&Self(start.to_vec()).fill(variables)?)),
            _ => Ok(received == self.fill(variables)?),
        }
    }
}

/// `bytes` in the notation: printable ASCII as text, all else as hex.
pub(crate) fn show(bytes: &[u8]) -> String {
    let is_text = |byte: &u8| (byte.is_ascii_graphic() || *byte == b' ') && *byte != b'"';
    let runs = bytes.chunk_by(|a, b| is_text(a) && is_text(b));
    let shown = runs.map(|run| match run {
        [first, ..] if is_text(first) => format!("\"{}\"", String::from_utf8_lossy(run)),
        _ => run.iter().map(|byte| format!("{byte:02X}")).collect(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn length_byte(text: &str) -> Result<u8, Failure> {
    u8::try_from(text.len()).map_err(|_| Failure::script(format!("{} bytes have no length byte", text.len())))
}

fn next_token(text: &str) -> Result<(Token, &str), String> {
    if let Some(rest) = text.strip_prefix('*') {
        return Ok((Token::AnyRest, rest));
    }
    if let Some(rest) = text.strip_prefix('#') {
        let (quoted, rest) = quoted(rest)?;
        return Ok((Token::LengthOf(quoted), rest));
    }
    if text.starts_with(['"', '\'']) {
        let (quoted, rest) = quoted(text)?;
        return Ok((Token::Text(quoted), rest));
    }
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    match u8::from_str_radix(word, 16) {
        Ok(byte) if word.len() == 2 => Ok((Token::Byte(byte), rest)),
        _ => Err(format!("`{word}` is not a byte")),
    }
}

fn quoted(text: &str) -> Result<(String, &str), String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let quote = quote.ok_or_else(|| format!("a text in quotes should stand at {text}"))?;
    let (inside, rest) =
        text[1..].split_once(quote).ok_or_else(|| format!("{text} lacks its closing quote"))?;
    Ok((inside.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_references_example_of_a_binary_push_reads_as_its_bytes() {
        let mut variables = Variables::default();
        variables.set("room", "room:7");
        let notation = r##"00 #"3" #"9" #"$room" #"pic" "3" '9' "$room" "pic" DE AD"##;
        let bytes = Bytes::parse(notation).and_then(|b| b.fill(&variables).map_err(|e| e.to_string()));
        let expected = b"\x00\x01\x01\x06\x0339room:7pic\xDE\xAD";
        assert_eq!(bytes.expect("well formed"), expected);
    }

    #[test]
    fn a_star_stands_for_any_rest() {
        let pattern = Bytes::parse("02 *").expect("well formed");
        let variables = Variables::default();
        assert!(pattern.matches(&[2, 9, 9], &variables).expect("no names"));
        assert!(!pattern.matches(&[1, 9, 9], &variables).expect("no names"));
        assert!(Bytes::parse("* 02").is_err());
    }

    #[test]
    fn what_is_no_byte_is_refused() {
        for text in ["0", "xyz", "\"open", "#5", "123"] {
            assert!(Bytes::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_are_shown_in_the_notation() {
        assert_eq!(show(b"\x00room:7\xDE\xAD"), "00 \"room:7\" DE AD");
    }
}
