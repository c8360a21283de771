//! A serde deserializer over the tree, whose errors carry a path.

use serde::de::value::{StrDeserializer, StringDeserializer};
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::node::{Content, Entry, Node, Segment, is_null};
use super::read_error::{ReadError, is_cut_by_a_comma};

/// Structs and enums that may be written as one word, with the key whose value the word becomes.
const WRITTEN_AS_A_WORD: [(&str, &str); 12] = [
    ("Connect", "path"),
    ("Join", "topic"),
    ("Leave", "topic"),
    ("Send", "text"),
    ("Wait", "event"),
    ("Barrier", "name"),
    ("Http", "get"),
    ("Target", "url"),
    ("Feeder", "file"),
    ("Choice", "value"),
    ("Expression", "text"),
    ("Extractor", "jsonpath"),
];

/// Returns the key that a single word stands for where a mapping of this name is expected.
pub(in crate::scenario) fn key_of_a_word(name: &str) -> Option<&'static str> {
    WRITTEN_AS_A_WORD.iter().find(|(written, _)| *written == name).map(|(_, key)| *key)
}

/// Deserializes a type from a tree.
pub(in crate::scenario) fn read<T: for<'de> serde::Deserialize<'de>>(node: &Node) -> Result<T, ReadError> {
    T::deserialize(Reader { node })
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    node: &'a Node,
}

impl<'a> Reader<'a> {
    fn mismatch(self, expected: &str) -> ReadError {
        ReadError::new(format!("expected {expected}, found {}", self.node.description()))
    }

    /// Returns the text of a scalar; anything else is an error.
    fn word(self, expected: &str) -> Result<&'a str, ReadError> {
        match &self.node.content {
            Content::Scalar { text, .. } if !self.node.is_null() => Ok(text),
            Content::Scalar { .. } | Content::List(_) | Content::Map(_) => Err(self.mismatch(expected)),
        }
    }

    fn whole_number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let expected = "a whole number";
        let digits = self.word(expected)?.replace('_', "");
        if let Ok(number) = digits.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        match digits.parse::<i64>() {
            Ok(number) => visitor.visit_i64(number),
            Err(_) => Err(self.mismatch(expected)),
        }
    }
}

/// Resolves a plain scalar by the YAML core schema (YAML 1.2.2, section 10.3.2), limited to what JSON can represent.
fn visit_plain<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, ReadError> {
    if is_null(text) {
        return visitor.visit_unit();
    }
    match text {
        "true" | "True" | "TRUE" => return visitor.visit_bool(true),
        "false" | "False" | "FALSE" => return visitor.visit_bool(false),
        _ => {}
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        if let Ok(number) = text.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        if let Ok(number) = text.parse::<i64>() {
            return visitor.visit_i64(number);
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && text.ends_with(|c: char| c.is_ascii_digit() || c == '.') => {
                return visitor.visit_f64(number);
            }
            Ok(_) | Err(_) => {}
        }
    }
    visitor.visit_str(text)
}

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.node.content {
            Content::Scalar { text, plain: true } => visit_plain(text, visitor),
            Content::Scalar { text, plain: false } => visitor.visit_str(text),
            Content::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Content::Map(entries) => visitor.visit_map(Entries { entries, current: None }),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.node.content {
            Content::Scalar { text, .. } if !self.node.is_null() => visitor.visit_str(text),
            Content::Scalar { .. } => {
                let expected: &dyn de::Expected = &visitor;
                Err(ReadError::new(format!("expected {expected}, found nothing")))
            }
            Content::List(_) | Content::Map(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.node.content {
            Content::Scalar { text, .. } if !self.node.is_null() => visitor.visit_str(text),
            Content::Scalar { .. } | Content::List(_) | Content::Map(_) => Err(self.mismatch("a text")),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_str(self.word("one character")?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.word("`true` or `false`")? {
            "true" | "True" | "TRUE" => visitor.visit_bool(true),
            "false" | "False" | "FALSE" => visitor.visit_bool(false),
            _ => Err(self.mismatch("`true` or `false`")),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.whole_number(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.whole_number(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.whole_number(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.word("a number")?.parse::<f64>() {
            Ok(number) if number.is_finite() => visitor.visit_f64(number),
            Ok(_) | Err(_) => Err(self.mismatch("a number")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.node.content {
            Content::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Content::Scalar { .. } | Content::Map(_) => Err(self.mismatch("a list (`- …`)")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        match &self.node.content {
            Content::List(items) if items.len() == length => visitor.visit_seq(Items { items, next: 0 }),
            Content::List(_) | Content::Scalar { .. } | Content::Map(_) => {
                Err(self.mismatch(&format!("a list of {length} values")))
            }
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.node.content {
            Content::Map(entries) => visitor.visit_map(Entries { entries, current: None }),
            Content::Scalar { .. } | Content::List(_) => Err(self.mismatch("a mapping (`key: value`)")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match (&self.node.content, key_of_a_word(name)) {
            // `- close:` has no value, like `- close: {}`.
            (Content::Scalar { .. }, _) if self.node.is_null() => visitor.visit_map(Entries::NONE),
            (Content::Scalar { .. }, Some(key)) => {
                visitor.visit_map(Word { key: Some(key), node: self.node })
            }
            (Content::Scalar { .. } | Content::List(_) | Content::Map(_), _) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match (&self.node.content, key_of_a_word(name)) {
            (Content::Scalar { .. }, Some(key)) => visitor.visit_enum(Variant { key, value: self.node }),
            (Content::Scalar { .. }, None) => {
                let word: StrDeserializer<'_, ReadError> = self.word("a word")?.into_deserializer();
                visitor.visit_enum(word)
            }
            (Content::Map(entries), _) => match entries.as_slice() {
                [entry] => visitor
                    .visit_enum(Variant { key: &entry.key, value: &entry.value })
                    .map_err(|error| error.within(Segment::Key(entry.key.clone()))),
                entries => Err(too_many_keys(entries)),
            },
            (Content::List(_), _) => Err(self.mismatch("a word or a mapping with one key")),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u128 f32 bytes byte_buf unit unit_struct tuple_struct
    }
}

fn too_many_keys(entries: &[Entry]) -> ReadError {
    let keys: Vec<String> = entries.iter().map(|entry| format!("`{}`", entry.key)).collect();
    let found = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
    let mut error = ReadError::new(format!("expected a mapping with one key, found {found}"));
    error.comma = entries.iter().any(|entry| is_cut_by_a_comma(&entry.key));
    error
}

struct Items<'a> {
    items: &'a [Node],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        while let Some(item) = self.items.get(self.next) {
            let index = self.next;
            self.next += 1;
            if item.ignored {
                continue;
            }
            return seed
                .deserialize(Reader { node: item })
                .map(Some)
                .map_err(|error| error.within(Segment::Index(index)));
        }
        Ok(None)
    }
}

struct Entries<'a> {
    entries: &'a [Entry],
    current: Option<&'a Entry>,
}

impl Entries<'static> {
    const NONE: Self = Self { entries: &[], current: None };
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        while let Some((entry, rest)) = self.entries.split_first() {
            self.entries = rest;
            if entry.value.ignored {
                continue;
            }
            self.current = Some(entry);
            let key: StringDeserializer<ReadError> = entry.key.clone().into_deserializer();
            return seed
                .deserialize(key)
                .map(Some)
                .map_err(|error| error.within(Segment::Key(entry.key.clone())).of_key());
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let entry =
            self.current.take().ok_or_else(|| ReadError::new("a value was asked for before its key"))?;
        seed.deserialize(Reader { node: &entry.value })
            .map_err(|error| error.within(Segment::Key(entry.key.clone())))
    }
}

/// A single word where a mapping was expected: presented as a mapping with one key.
struct Word<'a> {
    key: Option<&'static str>,
    node: &'a Node,
}

impl<'de> de::MapAccess<'de> for Word<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        let Some(key) = self.key.take() else { return Ok(None) };
        let key: StrDeserializer<'_, ReadError> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        seed.deserialize(Reader { node: self.node })
    }
}

struct Variant<'a> {
    key: &'a str,
    value: &'a Node,
}

impl<'a, 'de> de::EnumAccess<'de> for Variant<'a> {
    type Error = ReadError;
    type Variant = Reader<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Reader<'a>), ReadError> {
        let key: StrDeserializer<'_, ReadError> = self.key.into_deserializer();
        let variant = seed.deserialize(key).map_err(ReadError::of_key)?;
        Ok((variant, Reader { node: self.value }))
    }
}

impl<'de> de::VariantAccess<'de> for Reader<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        de::Deserializer::deserialize_tuple(self, length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        de::Deserializer::deserialize_struct(self, "", fields, visitor)
    }
}
