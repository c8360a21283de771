//! The schemas of ids, and the numbers that come from outside.

use chat::{ConversationId, RoomName, Seq};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;

/// Larger integers are not exact in every JSON reader (RFC 8259, section 6).
const EXACT_MAX: u64 = (1 << 53) - 1;

macro_rules! text_schema {
    ($(#[doc = $docs:literal] $name:ident $pattern:literal $max:expr, $example:literal;)*) => {$(
        #[doc = $docs]
        pub(crate) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $docs.trim(),
                    "pattern": $pattern,
                    "minLength": 1,
                    "maxLength": $max,
                    "examples": [$example],
                })
            }
        }
    )*};
}

text_schema! {
    /// A community's name in URLs.
    Community "^[a-z0-9_-]{1,40}$" 40, "default";
    /// A person's id: the `sub` of the host site's token, or a guest's id.
    Person r"^[!#-.0-\[\]-~]{1,128}$" 128, "ann";
    /// A room's name in URLs.
    Room "^[a-z0-9_-]{1,64}$" 64, "lobby";
    /// The sender's id for a message. A message that is sent again with the same id is not stored again.
    Client r"^[!#-.0-\[\]-~]{1,64}$" 64, "c-1";
    /// The sender's key for a request, with or without quotes.
    IdempotencyKey r#"^("[!#-.0-\[\]-~]{1,64}"|[!#-.0-\[\]-~]{1,64})$"# 66, "order-4711";
    /// An id that Throng generated: 26 characters that sort by time.
    Made "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$" 26, "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    /// A conversation: its id, or `room:` and the name of a room.
    Conversation "^([0-7][0-9A-HJKMNP-TV-Z]{25}|room:[a-z0-9_-]{1,64})$" 69, "room:lobby";
}

/// A conversation as a path names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reference {
    /// By its id.
    Id(ConversationId),
    /// A room by its name.
    Room(RoomName),
}

impl Reference {
    /// Parses one.
    pub(crate) fn parse(text: &str) -> Result<Self, chat::Problem> {
        match text.strip_prefix("room:") {
            Some(name) => RoomName::parse(name).map(Self::Room),
            None => ConversationId::parse(text).map(Self::Id),
        }
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Reference {
    fn schema_name() -> Cow<'static, str> {
        Conversation::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Conversation::json_schema(generator)
    }
}

macro_rules! whole_number {
    ($(#[doc = $docs:literal] $name:ident($inner:ty) $min:expr, $max:expr, $example:expr;)*) => {$(
        #[doc = $docs]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
        #[serde(try_from = "u64")]
        pub(crate) struct $name(pub(crate) $inner);

        impl TryFrom<u64> for $name {
            type Error = String;

            fn try_from(number: u64) -> Result<Self, String> {
                let (min, max): (u64, u64) = ($min as u64, $max as u64);
                if !(min..=max).contains(&number) {
                    return Err(format!("must be from {min} to {max}"));
                }
                Ok(Self(number as $inner))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "integer",
                    "description": $docs.trim(),
                    "minimum": $min,
                    "maximum": $max,
                    "examples": [$example],
                })
            }
        }
    )*};
}

whole_number! {
    /// A message's position in its conversation: 1, 2, 3, … without gaps; 0 is before the first message.
    Place(u64) 0, EXACT_MAX, 1;
    /// A conversation's revision: the number of its edits, deletions and reactions.
    ChangeCount(u64) 0, EXACT_MAX, 0;
    /// The maximum number of rows on a page.
    Limit(usize) 1, chat::limits::PAGE_MAX, 50;
    /// Milliseconds since 1970 (UTC).
    When(u64) 0, chat::Moment::MAX.millis(), 4_102_444_800_000_u64;
}

impl Place {
    /// Converts it to the type of the rules.
    pub(crate) const fn seq(self) -> Seq {
        Seq(self.0)
    }
}

impl When {
    /// Converts it to the type of the rules.
    pub(crate) const fn moment(self) -> chat::Moment {
        chat::Moment::from_millis(self.0)
    }
}

/// Rows on a page if no limit is given.
const LIMIT_DEFAULT: usize = 50;

/// Returns how many rows to ask for.
pub(crate) fn limit_or_default(limit: Option<Limit>) -> usize {
    limit.map_or(LIMIT_DEFAULT, |limit| limit.0)
}
