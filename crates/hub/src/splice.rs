//! Adds a member to a JSON object without parsing it.

use crate::outgoing::{Outgoing, inside};
use std::borrow::Cow;

/// The key of the offset in a publication's payload. Like `phx_ref` in a presence's meta it has the prefix that Phoenix
/// reserves; it is a valid identifier in every language, and no client gives it a meaning.
const OFFSET_KEY: &str = "phx_offset";

/// Adds the offset to a payload; returns the payload unchanged if it is not an object.
pub(crate) fn with_offset(payload: Outgoing<'static>, offset: u64) -> Outgoing<'static> {
    with_member(payload, OFFSET_KEY, &offset.to_string())
}

/// Returns the object with one more member, whose value is JSON text; anything else unchanged.
pub(crate) fn with_member<'a>(object: Outgoing<'a>, key: &str, value: &str) -> Outgoing<'a> {
    let Outgoing::Json(text) = &object else { return object };
    let Some(members) = inside(text) else { return object };
    Outgoing::Json(Cow::Owned(object_of(members, &["\"", key, "\":", value])))
}

/// Returns an object of these members, which may be none, and of further ones, the parts of whose text are given.
///
/// The further ones come last: of two members with the same key, parsers that keep one keep the last, so a client cannot
/// forge a value by writing the key itself.
pub(crate) fn object_of(members: &str, further: &[&str]) -> String {
    let length = further.iter().map(|part| part.len()).sum::<usize>();
    let mut object = String::with_capacity(members.len() + length + 3);
    object.push('{');
    object.push_str(members);
    if !members.is_empty() {
        object.push(',');
    }
    object.extend(further.iter().copied());
    object.push('}');
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn a_member_stands_behind_the_others() {
        for (object, expected) in [
            ("{}", r#"{"phx_offset":7}"#),
            (" { } ", r#"{"phx_offset":7}"#),
            (r#"{"a":{}}"#, r#"{"a":{},"phx_offset":7}"#),
            (r#"{"phx_offset":99}"#, r#"{"phx_offset":99,"phx_offset":7}"#),
        ] {
            assert_eq!(with_offset(Outgoing::json(object), 7), Outgoing::json(expected));
        }
    }

    #[test]
    fn what_is_no_object_stays_as_it_is() {
        for text in ["[]", "null", "\"{}\"", "7", "{"] {
            assert!(!Outgoing::json(text).is_object(), "{text}");
            assert_eq!(with_offset(Outgoing::json(text), 7), Outgoing::json(text));
        }
        assert_eq!(with_offset(Outgoing::binary(b"{}"), 7), Outgoing::binary(b"{}"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_object_gains_the_member_and_keeps_the_rest(
            members in prop::collection::btree_map(".*", ".*", 0..4), offset in 1_u64..1 << 53, forged: bool
        ) {
            let mut object = json!(members);
            if forged {
                object[OFFSET_KEY] = json!(0);
            }
            let Outgoing::Json(text) = with_offset(object.clone().into(), offset) else { panic!("an object") };
            let mut spliced: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(spliced[OFFSET_KEY], json!(offset));
            spliced.as_object_mut().expect("an object").remove(OFFSET_KEY);
            object.as_object_mut().expect("an object").remove(OFFSET_KEY);
            assert_eq!(spliced, object);
        }
    }
}
