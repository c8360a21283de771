//! Deserializes the named texts of a path or a query, and says which of them is wrong.

use chat::FieldProblem;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

type Error = serde::de::value::Error;

/// Deserializes `fields`.
///
/// # Errors
/// The first field that is wrong, unknown, missing or duplicated.
pub(crate) fn read<T: DeserializeOwned>(fields: Vec<(String, String)>) -> Result<T, FieldProblem> {
    for (place, (name, _)) in fields.iter().enumerate() {
        if fields[..place].iter().any(|(earlier, _)| earlier == name) {
            return Err(problem(name.clone(), "form", "is given more than once"));
        }
    }
    let map = MapDeserializer::<_, Error>::new(fields.into_iter().map(|(name, text)| (name, Text(text))));
    serde_path_to_error::deserialize(map).map_err(|error| {
        let path = error.path().to_string();
        explain(path, &error.into_inner().to_string())
    })
}

/// Converts a deserializer's message about the value at `path` to a problem of one field.
pub(crate) fn explain(path: String, message: &str) -> FieldProblem {
    if message.starts_with("unknown field `") {
        return problem(path, "unknown", "is not a known field");
    }
    // For a missing field, the path is that of the object in which it is missing.
    if let Some(name) = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        let field = if path == "." { name.to_owned() } else { format!("{path}.{name}") };
        return problem(field, "missing", "is required");
    }
    problem(path, "form", message)
}

fn problem(field: String, code: &'static str, message: &str) -> FieldProblem {
    FieldProblem { field, code, message: message.to_owned() }
}

/// The text of a field, which becomes a number or a boolean if one is expected.
struct Text(String);

impl<'de> IntoDeserializer<'de, Error> for Text {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty, $what:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let value: $type = self.0.parse().map_err(|_| Error::custom(concat!("must be ", $what)))?;
            visitor.$visit(value)
        }
    )*};
}

impl<'de> Deserializer<'de> for Text {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    parsed! {
        deserialize_bool visit_bool bool, "true or false";
        deserialize_u16 visit_u16 u16, "a whole number";
        deserialize_u32 visit_u32 u32, "a whole number";
        deserialize_u64 visit_u64 u64, "a whole number";
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        room: chat::RoomName,
        limit: Option<u16>,
    }

    fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn numbers_and_names_are_read() {
        let asked: Asked = read(fields(&[("room", "lobby"), ("limit", "7")])).expect("both are sound");
        assert_eq!((asked.room.as_str(), asked.limit), ("lobby", Some(7)));
    }

    #[test]
    fn the_field_that_is_wrong_is_named() {
        for (pairs, field, code) in [
            (&[("room", "lobby"), ("limit", "x")][..], "limit", "form"),
            (&[("room", "Lobby!")], "room", "form"),
            (&[("room", "a"), ("page", "2")], "page", "unknown"),
            (&[("limit", "2")], "room", "missing"),
            (&[("room", "a"), ("room", "b")], "room", "form"),
        ] {
            let problem = read::<Asked>(fields(pairs)).expect_err("one is wrong");
            assert_eq!((problem.field.as_str(), problem.code), (field, code), "{pairs:?}");
        }
    }
}
