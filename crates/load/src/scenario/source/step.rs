//! The written form of a step: a mapping with one key that names the action, besides an optional `label`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::connection::{Close, Connect, Http};
use super::drawn::Pause;
use super::logic::{Barrier, Branch, Expression, Extractor, If, Loop, Transaction};
use super::message::{Join, Leave, Push, Send, Wait};
use super::named::{Many, Named};
use super::scalar::{ReadRate, Time};

/// One step.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// Reports its times under this name, in addition to the metric of its kind.
    pub label: Option<String>,
    /// What the step does.
    pub action: Action,
}

impl From<Action> for Step {
    fn from(action: Action) -> Self {
        Self { label: None, action }
    }
}

/// What a step does, by its key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Opens the user's WebSocket.
    Connect(Connect),
    /// Phoenix: joins a topic and waits for the reply.
    Join(Join),
    /// Phoenix: leaves a topic and waits for the reply.
    Leave(Leave),
    /// Phoenix: pushes an event.
    Push(Push),
    /// Sends one WebSocket message.
    Send(Send),
    /// Waits for a message.
    Wait(Wait),
    /// Does nothing for a time.
    Think(Pause),
    /// Waits for the next beat: one interval after the beat before. What is sent next counts as intended for it.
    Pace(Pause),
    /// Waits for the other users.
    Barrier(Barrier),
    /// Does steps again and again.
    Loop(Loop),
    /// Chooses by a condition.
    If(If),
    /// Chooses by weight.
    Choose(Vec<Branch>),
    /// Gives variables values, one after the other.
    Set(Named<Expression>),
    /// Takes values out of the last message or response into variables.
    Capture(Named<Extractor>),
    /// Takes the next row of these feeders.
    Feed(Many<String>),
    /// One HTTP request and its response.
    Http(Http),
    /// Steps whose time together is reported.
    Transaction(Transaction),
    /// Closes the WebSocket with the closing handshake.
    Close(Close),
    /// Drops the connection without a close frame.
    Cut(Nothing),
    /// Says and hears nothing more for so long, then cuts.
    HalfOpen(Time),
    /// From here on reads at most so fast.
    SlowReader(ReadRate),
    /// Has done all that it came for, and stays as it is until the run ends.
    Stay(Nothing),
    /// Ends the user's session as failed, or the whole run.
    Abort(Scope),
}

/// A step without anything to say about it: `- cut` or `- cut: {}`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// What an abort ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The user's session, as failed.
    Session,
    /// The whole run.
    Run,
}

/// The keys of [`Action`].
const ACTIONS: &[&str] = &[
    "connect",
    "join",
    "leave",
    "push",
    "send",
    "wait",
    "think",
    "pace",
    "barrier",
    "loop",
    "if",
    "choose",
    "set",
    "capture",
    "feed",
    "http",
    "transaction",
    "close",
    "cut",
    "half_open",
    "slow_reader",
    "stay",
    "abort",
];

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Labelled<'a> {
            label: &'a str,
            #[serde(flatten)]
            action: &'a Action,
        }
        match &self.label {
            Some(label) => Labelled { label, action: &self.action }.serialize(serializer),
            None => self.action.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StepVisitor)
    }
}

struct StepVisitor;

impl<'de> de::Visitor<'de> for StepVisitor {
    type Value = Step;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a step, such as `think: 5s`")
    }

    /// Accepts a step written as a bare word: `- close`.
    fn visit_str<E: de::Error>(self, name: &str) -> Result<Step, E> {
        let name = known_action(name)?;
        Action::deserialize(Keyed {
            name,
            value: MapDeserializer::<_, E>::new(std::iter::empty::<(&str, &str)>()),
        })
        .map(Step::from)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Step, A::Error> {
        let mut label = None;
        let mut action = None;
        while let Some(key) = map.next_key_seed(StepKey { taken: action.is_some() })? {
            match key {
                None => label = Some(map.next_value()?),
                Some(name) => action = Some(map.next_value_seed(ActionNamed(name))?),
            }
        }
        let action = action.ok_or_else(|| de::Error::custom("a step needs a key that says what is done"))?;
        Ok(Step { label, action })
    }
}

fn known_action<E: de::Error>(name: &str) -> Result<&'static str, E> {
    ACTIONS.iter().find(|known| **known == name).copied().ok_or_else(|| E::unknown_variant(name, ACTIONS))
}

/// Deserializes a step's key: an action's name, or `None` for `label`.
struct StepKey {
    taken: bool,
}

impl<'de> de::DeserializeSeed<'de> for StepKey {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let key = String::deserialize(deserializer)?;
        match key.as_str() {
            "label" => Ok(None),
            key => {
                let name = known_action(key)?;
                if self.taken {
                    let explanation =
                        format!("a step does one thing: write `- {name}:` as a step of its own");
                    return Err(de::Error::custom(explanation));
                }
                Ok(Some(name))
            }
        }
    }
}

/// Deserializes the value of an action whose key has already been read.
struct ActionNamed(&'static str);

impl<'de> de::DeserializeSeed<'de> for ActionNamed {
    type Value = Action;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Action, D::Error> {
        Action::deserialize(Keyed { name: self.0, value })
    }
}

/// Deserializes an enum's value after its variant name has already been read.
struct Keyed<D> {
    name: &'static str,
    value: D,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Keyed<D> {
    type Error = D::Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, D: Deserializer<'de>> de::EnumAccess<'de> for Keyed<D> {
    type Error = D::Error;
    type Variant = KeyedValue<D>;

    fn variant_seed<V: de::DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, KeyedValue<D>), D::Error> {
        let name: StrDeserializer<'static, D::Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, KeyedValue(self.value)))
    }
}

struct KeyedValue<D>(D);

impl<'de, D: Deserializer<'de>> de::VariantAccess<'de> for KeyedValue<D> {
    type Error = D::Error;

    fn unit_variant(self) -> Result<(), D::Error> {
        serde::Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, D::Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: de::Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: de::Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct("step", fields, visitor)
    }
}

impl JsonSchema for Step {
    fn schema_name() -> Cow<'static, str> {
        "Step".into()
    }

    /// Combines the schema of [`Action`] with an optional `label` beside each key and with the names of steps that may
    /// be written as a bare word.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Action::json_schema(generator);
        let Some(Value::Array(variants)) = schema.get_mut("oneOf") else { return schema };
        for variant in variants.iter_mut() {
            if let Some(Value::Object(properties)) = variant.get_mut("properties") {
                let label = json!({ "type": "string", "description": "Reports its times under this name." });
                properties.insert("label".to_owned(), label);
            }
        }
        variants.push(json!({ "enum": ["connect", "wait", "close", "cut", "stay"] }));
        schema
    }
}
