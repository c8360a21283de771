//! The compact form: `header.claims.signature` (RFC 7515, section 7.1).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::field;
use super::{Algorithm, Claims, ID_BYTES_MAX, Part, Refusal, TOKEN_BYTES_MAX};

/// A token split into its parts. Nothing of it is verified.
pub struct Presented<'token> {
    /// The algorithm that the header claims. It has no choice: it must equal the one that the key is pinned to.
    pub algorithm: Algorithm,
    /// The key that the header names.
    pub kid: Option<String>,
    /// The bytes that were signed: the first two parts and the dot between them (RFC 7515, section 5.2).
    pub signed: &'token [u8],
    /// The signature.
    pub signature: Vec<u8>,
    claims: &'token str,
}

/// The header. Everything else in it is ignored, in particular what would supply a key of its own: `jku`, `jwk`, `x5u`,
/// `x5c`.
#[derive(Deserialize)]
struct Header {
    alg: Option<serde_json::Value>,
    kid: Option<serde_json::Value>,
    /// RFC 7515, section 4.1.11: a recipient that does not support everything it lists must reject; we support none of
    /// it.
    crit: Option<IgnoredAny>,
}

impl<'token> Presented<'token> {
    /// Splits a token and parses its header.
    ///
    /// # Errors
    /// [`Refusal::TooLong`], [`Refusal::Malformed`], [`Refusal::AlgorithmUnknown`].
    pub fn read(text: &'token str) -> Result<Self, Refusal> {
        if text.len() > TOKEN_BYTES_MAX {
            return Err(Refusal::TooLong { bytes: text.len() });
        }
        let [header, claims, signature] = three_parts(text)?;
        let signed = &text.as_bytes()[..header.len() + 1 + claims.len()];
        let header: Header = field::object(&decode_part(header, Part::Header)?)
            .ok_or_else(|| malformed(Part::Header, "not a JSON object, or a known member occurs twice"))?;
        if header.crit.is_some() {
            return Err(malformed(Part::Header, "`crit` requires extensions, but none are supported"));
        }
        Ok(Presented {
            algorithm: algorithm(header.alg.as_ref())?,
            kid: kid(header.kid.as_ref())?,
            signed,
            signature: decode_part(signature, Part::Signature)?,
            claims,
        })
    }

    /// Parses the claims. Only call this once the token's signature has been verified.
    ///
    /// # Errors
    /// [`Refusal::Malformed`], [`Refusal::Claim`].
    pub fn claims(&self) -> Result<Claims, Refusal> {
        Claims::read(&decode_part(self.claims, Part::Claims)?)
    }
}

fn three_parts(text: &str) -> Result<[&str; 3], Refusal> {
    let mut parts = text.split('.');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(header), Some(claims), Some(signature), None) => Ok([header, claims, signature]),
        _ => Err(malformed(Part::Whole, "not three parts separated by dots")),
    }
}

fn algorithm(alg: Option<&serde_json::Value>) -> Result<Algorithm, Refusal> {
    alg.and_then(serde_json::Value::as_str).and_then(Algorithm::named).ok_or(Refusal::AlgorithmUnknown)
}

fn kid(kid: Option<&serde_json::Value>) -> Result<Option<String>, Refusal> {
    kid.map(|value| field::text(value, "kid", ID_BYTES_MAX)).transpose()
}

/// Encodes one part: base64url without padding (RFC 7515, section 2).
pub(crate) fn encode_part(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Strict: no padding, no other alphabet, no leftover bits, so that a token has exactly one spelling.
fn decode_part(text: &str, part: Part) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| malformed(part, "not base64url without padding"))
}

fn malformed(part: Part, why: &'static str) -> Refusal {
    Refusal::Malformed { part, why }
}
