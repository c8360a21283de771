//! The client side of Phoenix Presence: who joins and leaves in a message. Pure.

use proto::phoenix::Payload;
use serde::Deserialize;

use super::phoenix::Incoming;

/// A change of presence: keys, each with its number of entries (tabs, devices).
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum PresenceChange {
    State(Vec<(String, u32)>),
    Difference { joins: Vec<(String, u32)>, leaves: Vec<(String, u32)> },
}

/// Returns the change of presence in a message; `None` for messages that are not about presence.
pub(crate) fn presence_change(message: &Incoming<'_>) -> Option<PresenceChange> {
    #[derive(Deserialize)]
    struct Difference {
        #[serde(default)]
        joins: serde_json::Map<String, serde_json::Value>,
        #[serde(default)]
        leaves: serde_json::Map<String, serde_json::Value>,
    }
    let Payload::Json(json) = message.payload else { return None };
    match &*message.event {
        "presence_state" => {
            let state: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).ok()?;
            Some(PresenceChange::State(state.into_iter().map(|(key, entry)| (key, metas(&entry))).collect()))
        }
        "presence_diff" => {
            let difference: Difference = serde_json::from_str(json).ok()?;
            let list = |map: serde_json::Map<String, serde_json::Value>| {
                map.into_iter().map(|(key, entry)| (key, metas(&entry))).collect()
            };
            Some(PresenceChange::Difference {
                joins: list(difference.joins),
                leaves: list(difference.leaves),
            })
        }
        _ => None,
    }
}

/// Returns the number of entries of a key.
fn metas(entry: &serde_json::Value) -> u32 {
    entry.get("metas").and_then(serde_json::Value::as_array).map_or(1, |metas| metas.len() as u32)
}

#[cfg(test)]
mod tests {
    use proto::phoenix::{FrameKind, Version};

    use super::*;

    #[test]
    fn presence_says_who_comes_and_goes() {
        let read = |body: &'static str| {
            presence_change(&Incoming::read(Version::V2, FrameKind::Text, body.as_bytes()).expect(body))
        };
        let state = read(r#"["1",null,"r","presence_state",{"ann":{"metas":[{},{}]},"bob":{"metas":[{}]}}]"#);
        let expected = vec![("ann".to_owned(), 2), ("bob".to_owned(), 1)];
        assert_eq!(state, Some(PresenceChange::State(expected)));
        let change = read(r#"[null,null,"r","presence_diff",{"joins":{"eve":{"metas":[{}]}},"leaves":{}}]"#);
        let joins = vec![("eve".to_owned(), 1)];
        assert_eq!(change, Some(PresenceChange::Difference { joins, leaves: Vec::new() }));
        assert_eq!(read(r#"[null,null,"r","other",{}]"#), None);
    }
}
