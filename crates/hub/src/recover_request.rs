//! Parses the position to recover from out of a join's payload.

use crate::follow::RecoverRequest;
use crate::place::{Epoch, PublisherId};
use proto::phoenix::Payload;
use serde::Deserialize;
use std::borrow::Cow;

/// All other members of the payload belong to the application.
#[derive(Deserialize)]
struct JoinPayload<'a> {
    #[serde(borrow, default)]
    recover: Option<Recover<'a>>,
}

/// The values from the reply to an earlier join, with the offset of the last message that the client got.
#[derive(Deserialize)]
struct Recover<'a> {
    #[serde(borrow)]
    epoch: Cow<'a, str>,
    offset: u64,
    #[serde(borrow, default)]
    publisher: Option<Cow<'a, str>>,
}

/// `recover` in a join's payload is malformed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BadRecoverRequest;

/// Parses `{"recover": {"epoch": …, "offset": …}}`; returns `None` if it is missing or null.
pub(crate) fn parse_recover(payload: Payload<'_>) -> Result<Option<RecoverRequest>, BadRecoverRequest> {
    let Payload::Json(text) = payload else { return Ok(None) };
    if !text.trim_start().starts_with('{') || !text.contains("\"recover\"") {
        return Ok(None);
    }
    let payload: JoinPayload<'_> = serde_json::from_str(text).map_err(|_| BadRecoverRequest)?;
    let Some(Recover { epoch, offset, publisher }) = payload.recover else { return Ok(None) };
    let publisher = publisher.map(|name| PublisherId::parse(&name).ok_or(BadRecoverRequest)).transpose()?;
    Ok(Some(RecoverRequest { epoch: Epoch::new(&epoch).ok_or(BadRecoverRequest)?, offset, publisher }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_says_where_it_stood_or_nothing() {
        let read = |text| parse_recover(Payload::Json(text));
        let epoch = Epoch::new("e1").expect("an epoch");
        let publisher = PublisherId::parse("AAAAAAAAAAAAAAAA");
        let expected = RecoverRequest { epoch: epoch.clone(), offset: 7, publisher: None };
        assert_eq!(read(r#"{"name":"ann","recover":{"epoch":"e1","offset":7}}"#), Ok(Some(expected)));
        let whole =
            r#"{"recover":{"epoch":"e1","offset":0,"publisher":"AAAAAAAAAAAAAAAA","recovered":true}}"#;
        assert_eq!(read(whole), Ok(Some(RecoverRequest { epoch, offset: 0, publisher })));
        for text in ["{}", r#"{"recover":null}"#, r#"["recover"]"#, r#""\"recover\"""#, "null"] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
        assert_eq!(parse_recover(Payload::Binary(b"{\"recover\":1}")), Ok(None));
    }

    #[test]
    fn a_bad_form_is_told_from_none() {
        for text in [
            r#"{"recover":true}"#,
            r#"{"recover":{"offset":7}}"#,
            r#"{"recover":{"epoch":"e1"}}"#,
            r#"{"recover":{"epoch":"e1","offset":-1}}"#,
            r#"{"recover":{"epoch":"e1","offset":"7"}}"#,
            r#"{"recover":{"epoch":"","offset":7}}"#,
            r#"{"recover":{"epoch":"e1","offset":7,"publisher":"me"}}"#,
            r#"{"recover":{"epoch":"e1","offset":7},"recover":null}"#,
        ] {
            assert_eq!(parse_recover(Payload::Json(text)), Err(BadRecoverRequest), "{text}");
        }
    }
}
