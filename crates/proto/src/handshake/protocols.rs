//! `Sec-WebSocket-Protocol`: the subprotocols that a client offers, and the auth token that phoenix.js puts among them.

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The prefix of the offer that carries the token. Despite its name, browsers use the standard alphabet.
const TOKEN_PREFIX: &str = "base64url.bearer.phx.";

const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// A client's offer, parsed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OfferedProtocols<'a> {
    /// The decoded token.
    pub auth_token: Option<String>,
    /// The other offers, in the client's order.
    pub protocols: Vec<&'a str>,
}

/// The token is not base64, or does not decode to text. Respond with a 4xx status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadAuthToken;

/// The client offered subprotocols, but none of ours. Respond with 403.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoCommonProtocol;

/// Splits the value of the first `Sec-WebSocket-Protocol` header and extracts the token from it. For mounts that have
/// auth tokens enabled; if several offers look like a token, none is treated as one.
///
/// Both base64 alphabets are accepted, with and without padding.
pub fn auth_token_and_protocols(header: Option<&str>) -> Result<OfferedProtocols<'_>, BadAuthToken> {
    let mut offered = OfferedProtocols { auth_token: None, protocols: split(header) };
    let mut candidates =
        offered.protocols.iter().enumerate().filter_map(|(at, offer)| Some((at, token_of(offer)?)));
    if let (Some((at, encoded)), None) = (candidates.next(), candidates.next()) {
        offered.auth_token = Some(decode_token(encoded)?);
        offered.protocols.remove(at);
    }
    Ok(offered)
}

/// Chooses the first of the server's subprotocols that the client offered, to be echoed. Returns `Ok(None)`, which
/// means no header in the response, if nothing was offered.
///
/// A mount that has neither auth tokens nor subprotocols of its own ignores the error, but must still echo `phoenix` if
/// it was offered: browsers abort if they offered something and got nothing back.
pub fn choose_protocol<'s>(
    offered: &[&str],
    supported: &[&'s str],
) -> Result<Option<&'s str>, NoCommonProtocol> {
    if offered.is_empty() {
        return Ok(None);
    }
    supported.iter().find(|name| offered.contains(name)).map(|name| Some(*name)).ok_or(NoCommonProtocol)
}

fn split(header: Option<&str>) -> Vec<&str> {
    header
        .into_iter()
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|offer| !offer.is_empty())
        .collect()
}

fn token_of<'a>(offer: &&'a str) -> Option<&'a str> {
    offer.strip_prefix(TOKEN_PREFIX)
}

fn decode_token(encoded: &str) -> Result<String, BadAuthToken> {
    let engine = if encoded.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let bytes = engine.decode(encoded).map_err(|_| BadAuthToken)?;
    String::from_utf8(bytes).map_err(|_| BadAuthToken)
}

impl fmt::Display for BadAuthToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the auth token is not base64 of text")
    }
}

impl fmt::Display for NoCommonProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("none of the offered subprotocols is spoken here")
    }
}

impl std::error::Error for BadAuthToken {}
impl std::error::Error for NoCommonProtocol {}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(header: &str) -> Result<Option<String>, BadAuthToken> {
        auth_token_and_protocols(Some(header)).map(|offered| offered.auth_token)
    }

    #[test]
    fn the_token_is_taken_out_of_the_offers() {
        let offered =
            auth_token_and_protocols(Some("phoenix, base64url.bearer.phx.c2VjcmV0")).expect("a token");
        assert_eq!(offered.auth_token.as_deref(), Some("secret"));
        assert_eq!(offered.protocols, ["phoenix"]);
    }

    #[test]
    fn both_alphabets_are_read_with_and_without_padding() {
        for encoded in ["Pz8/Pz4+", "Pz8_Pz4-"] {
            assert_eq!(
                token(&format!("base64url.bearer.phx.{encoded}")),
                Ok(Some("????>>".into())),
                "{encoded}"
            );
        }
        for encoded in ["YQ", "YQ=="] {
            assert_eq!(token(&format!("base64url.bearer.phx.{encoded}")), Ok(Some("a".into())), "{encoded}");
        }
    }

    #[test]
    fn junk_in_place_of_a_token_is_an_error() {
        for encoded in ["%%", "a", "+_", "/w"] {
            assert_eq!(
                token(&format!("phoenix,base64url.bearer.phx.{encoded}")),
                Err(BadAuthToken),
                "{encoded}"
            );
        }
    }

    #[test]
    fn two_tokens_are_none() {
        let offered = auth_token_and_protocols(Some("base64url.bearer.phx.YQ,base64url.bearer.phx.Yg"))
            .expect("no token");
        assert_eq!((offered.auth_token, offered.protocols.len()), (None, 2));
    }

    #[test]
    fn without_a_header_there_is_neither_token_nor_protocol() {
        assert_eq!(auth_token_and_protocols(None), Ok(OfferedProtocols::default()));
    }

    #[test]
    fn the_servers_preference_decides() {
        assert_eq!(choose_protocol(&["sip", "phoenix"], &["phoenix", "sip"]), Ok(Some("phoenix")));
        assert_eq!(choose_protocol(&[], &["phoenix"]), Ok(None));
        assert_eq!(choose_protocol(&["mqtt"], &["phoenix", "sip"]), Err(NoCommonProtocol));
    }
}
