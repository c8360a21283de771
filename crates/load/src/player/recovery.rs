//! The client side of recoverable topics (`docs/protocol.md`): a user's position, and what messages say about it. Pure.

use proto::phoenix::Payload;
use serde::Deserialize;

use super::phoenix::Incoming;

/// A user's position in a recoverable topic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Standing {
    /// The epoch of the topic's order.
    pub(crate) epoch: String,
    /// The last publication that the user received.
    pub(crate) offset: u64,
    /// The user's identity as a publisher.
    pub(crate) publisher: Option<String>,
}

impl Standing {
    /// Returns the `recover` member of a join, as JSON.
    pub(crate) fn request(&self) -> String {
        let Self { epoch, offset, publisher } = self;
        let request = match publisher {
            Some(publisher) => {
                serde_json::json!({ "epoch": epoch, "offset": offset, "publisher": publisher })
            }
            None => serde_json::json!({ "epoch": epoch, "offset": offset }),
        };
        request.to_string()
    }
}

/// The part of a join's reply about recovery.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Recovery {
    /// `None`: the server does not know the topic's position at the moment.
    pub(crate) standing: Option<Standing>,
    /// Whether the missed messages follow.
    pub(crate) is_recovered: bool,
}

/// Returns the part of a join's reply about recovery; `None` if the topic is not recoverable.
pub(crate) fn recovery_in(message: &Incoming<'_>) -> Option<Recovery> {
    #[derive(Deserialize)]
    struct Reply {
        response: Response,
    }
    #[derive(Deserialize)]
    struct Response {
        recover: Recover,
    }
    #[derive(Deserialize)]
    struct Recover {
        epoch: Option<String>,
        offset: Option<u64>,
        publisher: Option<String>,
        #[serde(default)]
        recovered: bool,
    }
    let Payload::Json(json) = message.payload else { return None };
    let Recover { epoch, offset, publisher, recovered } =
        serde_json::from_str::<Reply>(json).ok()?.response.recover;
    let standing = epoch.zip(offset).map(|(epoch, offset)| Standing { epoch, offset, publisher });
    Some(Recovery { standing, is_recovered: recovered })
}

/// Returns the position after a `gap`: the epoch and the offset.
pub(crate) fn gap_in(message: &Incoming<'_>) -> Option<(String, u64)> {
    #[derive(Deserialize)]
    struct Gap {
        epoch: String,
        to: u64,
    }
    let Payload::Json(json) = message.payload else { return None };
    serde_json::from_str::<Gap>(json).ok().map(|Gap { epoch, to }| (epoch, to))
}

/// Returns the offset of a publication in its topic. It is the last member of the payload, so that the rest of the
/// payload need not be parsed.
pub(crate) fn offset_in(payload: &[u8]) -> Option<u64> {
    let payload = payload.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let digits = payload.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = payload.split_at(payload.len() - digits);
    before.strip_suffix(br#""phx_offset":"#)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns a join's payload with `recover` inserted before its other members; `None` if it is not an object.
pub(crate) fn with_request(payload: &str, standing: &Standing) -> Option<String> {
    let members = payload.trim().strip_prefix('{')?.trim_start();
    let comma = if members.starts_with('}') { "" } else { "," };
    Some(format!(r#"{{"recover":{}{comma}{members}"#, standing.request()))
}

#[cfg(test)]
mod tests {
    use proto::phoenix::{FrameKind, Version};

    use super::*;

    #[test]
    fn a_reply_to_a_join_says_where_the_user_stands() {
        let read = |recover: &str| {
            let body = format!(r#"["1","1","r","phx_reply",{{"status":"ok","response":{{{recover}}}}}]"#);
            recovery_in(&Incoming::read(Version::V2, FrameKind::Text, body.as_bytes()).expect(&body))
        };
        let standing = Standing { epoch: "x1".into(), offset: 41, publisher: Some("Hq".into()) };
        let table = [
            (
                r#""recover":{"epoch":"x1","offset":41,"publisher":"Hq"}"#,
                Some(Recovery { standing: Some(standing.clone()), is_recovered: false }),
            ),
            (
                r#""recover":{"epoch":"x1","offset":41,"publisher":"Hq","recovered":true}"#,
                Some(Recovery { standing: Some(standing.clone()), is_recovered: true }),
            ),
            (
                r#""recover":{"recovered":false,"reason":"unavailable"}"#,
                Some(Recovery { standing: None, is_recovered: false }),
            ),
            (r#""other":1"#, None),
        ];
        for (recover, expected) in table {
            assert_eq!(read(recover), expected, "{recover}");
        }
        let gap = r#"[null,null,"r","gap",{"epoch":"x2","from":42,"to":57,"reason":"too_old"}]"#;
        let gap = Incoming::read(Version::V2, FrameKind::Text, gap.as_bytes()).expect("a gap");
        assert_eq!(gap_in(&gap), Some(("x2".to_owned(), 57)));
    }

    #[test]
    fn a_join_hands_back_where_the_user_stood() {
        let standing = Standing { epoch: "x1".into(), offset: 41, publisher: None };
        for (payload, expected) in [
            ("{}", Some(r#"{"recover":{"epoch":"x1","offset":41}}"#)),
            (r#" { "name": "ann" }"#, Some(r#"{"recover":{"epoch":"x1","offset":41},"name": "ann" }"#)),
            ("17", None),
        ] {
            assert_eq!(with_request(payload, &standing).as_deref(), expected, "{payload}");
        }
    }

    #[test]
    fn a_publications_place_stands_at_the_end_of_its_payload() {
        for (payload, expected) in [
            (r#"{"body":"hi","phx_offset":42}"#, Some(42)),
            (r#"{"phx_offset":7,"phx_offset":8 } "#, Some(8)),
            (r#"{"body":"\"phx_offset\":42"}"#, None),
            (r#"{"body":42}"#, None),
            (r#"{"phx_offset":}"#, None),
            ("", None),
        ] {
            assert_eq!(offset_in(payload.as_bytes()), expected, "{payload}");
        }
    }
}
