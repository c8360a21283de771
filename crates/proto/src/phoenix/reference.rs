//! The opaque references of a message, `ref` and `join_ref`.
//!
//! Phoenix echoes them unchanged and compares them strictly: the number `5` is not the string `"5"`. So a reference is
//! kept as JSON text and never as a number or a string.

use std::borrow::Cow;
use std::fmt;

use super::json;

/// The longest JSON text kept without an allocation. A counter's decimal string of up to twelve digits fits.
const INLINE_BYTES_MAX: usize = 14;

/// A `ref` or `join_ref`: any JSON value as its JSON text; `null` when absent. Sixteen bytes.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Ref(Text);

const _: () = assert!(size_of::<Ref>() == 16 && size_of::<Option<Ref>>() == 16);

/// Equal texts have equal representations: a short one is always inline and padded with zeros.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Text {
    Inline { len: u8, bytes: [u8; INLINE_BYTES_MAX] },
    Long(Box<Long>),
}

/// Behind a thin pointer, so that the enum stays at sixteen bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Long {
    text: Box<str>,
}

impl Ref {
    /// The absent reference.
    pub const NULL: Ref = Ref(Text::NULL);

    /// Creates a reference from the text of a JSON value. A string that contains escapes is normalised, so that equal
    /// strings compare equal; `raw` must be one valid JSON value without surrounding whitespace.
    pub fn from_json(raw: &str) -> Ref {
        Ref::parse(raw).unwrap_or(Ref(Text::new(raw)))
    }

    /// Creates a reference that is the JSON string of `text`, as in binary frames: an empty one is the empty string,
    /// not `null`.
    pub fn from_text(text: &str) -> Ref {
        if text.len() + 2 <= INLINE_BYTES_MAX && !json::needs_escape(text) {
            let mut bytes = [0; INLINE_BYTES_MAX];
            bytes[0] = b'"';
            bytes[1..=text.len()].copy_from_slice(text.as_bytes());
            bytes[text.len() + 1] = b'"';
            return Ref(Text::Inline { len: text.len() as u8 + 2, bytes });
        }
        let mut quoted = String::with_capacity(text.len() + 2);
        json::push_string(&mut quoted, text);
        Ref(Text::new(&quoted))
    }

    /// Like [`Ref::from_json`], for a text without escapes.
    pub(super) fn plain(raw: &str) -> Ref {
        if raw == "null" { Ref::NULL } else { Ref(Text::new(raw)) }
    }

    /// Like [`Ref::from_json`], but `None` for a string whose escapes are not valid Unicode (a lone surrogate).
    pub(super) fn parse(raw: &str) -> Option<Ref> {
        match raw.strip_prefix('"') {
            Some(rest) if rest.contains('\\') => json::parse_string(raw).map(|text| Ref::from_text(&text)),
            _ => Some(Ref::plain(raw)),
        }
    }

    /// Returns whether the reference is absent.
    pub fn is_null(&self) -> bool {
        matches!(self.0, Text::Inline { len: 0, .. })
    }

    /// Returns the JSON text, `null` if absent.
    pub fn as_json(&self) -> &str {
        match &self.0 {
            Text::Inline { len: 0, .. } => "null",
            Text::Inline { len, bytes } => {
                std::str::from_utf8(&bytes[..usize::from(*len)]).expect("a reference holds text")
            }
            Text::Long(long) => &long.text,
        }
    }

    /// Returns the JSON text as bytes, for encoders: the same as [`Ref::as_json`] without the UTF-8 check.
    pub(super) fn as_json_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Inline { len: 0, .. } => b"null",
            Text::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Text::Long(long) => long.text.as_bytes(),
        }
    }

    /// Returns its form in a binary frame: nothing for `null`, the text of a string, else the JSON text.
    pub(super) fn as_text(&self) -> Cow<'_, str> {
        if self.is_null() {
            return Cow::Borrowed("");
        }
        let raw = self.as_json();
        match raw.starts_with('"') {
            true => json::text_of_string(raw).unwrap_or(Cow::Borrowed(raw)),
            false => Cow::Borrowed(raw),
        }
    }
}

impl Text {
    const NULL: Text = Text::Inline { len: 0, bytes: [0; INLINE_BYTES_MAX] };

    fn new(raw: &str) -> Text {
        if raw.len() > INLINE_BYTES_MAX {
            return Text::Long(Box::new(Long { text: raw.into() }));
        }
        let mut bytes = [0; INLINE_BYTES_MAX];
        bytes[..raw.len()].copy_from_slice(raw.as_bytes());
        Text::Inline { len: raw.len() as u8, bytes }
    }
}

impl Default for Text {
    fn default() -> Self {
        Text::NULL
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ref({})", self.as_json())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_json_null_is_the_absent_reference() {
        assert_eq!(Ref::from_json("null"), Ref::NULL);
        assert_eq!(Ref::default().as_json(), "null");
        assert_eq!(Ref::NULL.as_text(), "");
    }

    #[test]
    fn a_number_and_the_string_of_its_digits_differ() {
        assert_ne!(Ref::from_json("5"), Ref::from_json(r#""5""#));
        assert_eq!(Ref::from_json("5").as_text(), "5");
        assert_eq!(Ref::from_json(r#""5""#), Ref::from_text("5"));
    }

    #[test]
    fn an_empty_string_is_not_null() {
        assert!(!Ref::from_text("").is_null());
        assert_eq!(Ref::from_text("").as_json(), r#""""#);
    }

    #[test]
    fn spellings_of_one_string_compare_equal() {
        assert_eq!(Ref::from_json(r#""\u0041\/b""#), Ref::from_json(r#""A/b""#));
        assert_eq!(Ref::from_json(r#""\u001f""#), Ref::from_json(r#""\u001F""#));
    }

    proptest! {
        #[test]
        fn any_text_survives_as_a_reference(text in ".{0,40}") {
            let reference = Ref::from_text(&text);
            prop_assert_eq!(reference.as_text(), text.as_str());
            prop_assert_eq!(&Ref::from_json(reference.as_json()), &reference);
            prop_assert_eq!(&Ref::from_json(&serde_json::to_string(&text).expect("a string")), &reference);
        }
    }
}
