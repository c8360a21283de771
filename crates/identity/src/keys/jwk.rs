//! JSON Web Key Sets (RFC 7517, section 5; RFC 8037 for Ed25519).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use super::key::{BadKey, Key};
use super::set::KEYS_MAX;
use crate::token::Algorithm;

/// A key of a set that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedKey {
    /// Its index in the set, from 0.
    pub place: usize,
    /// Its `kid`, if it has one.
    pub kid: Option<String>,
    /// Why it is not used.
    pub why: &'static str,
}

/// Parses a set. RFC 7517, section 5, requires that unsupported keys are ignored, so a site may publish keys for others
/// beside ours: each of them is returned with the reason. Symmetric keys are never accepted: a published key is not
/// secret.
///
/// # Errors
/// [`JwksError`]: then no key of the set is used.
pub fn read_jwks(json: &[u8]) -> Result<(Vec<Key>, Vec<SkippedKey>), JwksError> {
    let written: Jwks = serde_json::from_slice(json).map_err(|_| JwksError::NotASet)?;
    if written.keys.len() > KEYS_MAX {
        return Err(JwksError::TooMany { keys: written.keys.len() });
    }
    let (mut keys, mut skipped) = (Vec::new(), Vec::new());
    for (place, value) in written.keys.into_iter().enumerate() {
        let kid = value.get("kid").and_then(serde_json::Value::as_str).map(str::to_owned);
        match key(value) {
            Ok(key) if keys.iter().any(|other: &Key| other.kid() == key.kid()) => {
                return Err(JwksError::Repeated { place });
            }
            Ok(key) => keys.push(key),
            Err(why) => skipped.push(SkippedKey { place, kid, why }),
        }
    }
    Ok((keys, skipped))
}

#[derive(Deserialize)]
struct Jwks {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

fn key(value: serde_json::Value) -> Result<Key, &'static str> {
    let jwk: Jwk = serde_json::from_value(value).map_err(|_| "a member is missing or of the wrong type")?;
    if jwk.usage.as_deref().is_some_and(|usage| usage != "sig")
        || jwk.key_ops.as_deref().is_some_and(|operations| !operations.iter().any(|one| one == "verify"))
    {
        return Err("not for signatures");
    }
    let algorithm = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => Algorithm::Rs256,
        ("EC", Some("P-256")) => Algorithm::Es256,
        ("OKP", Some("Ed25519")) => Algorithm::EdDsa,
        ("oct", _) => return Err("a secret key, which must not be published"),
        _ => return Err("a key type that is not supported"),
    };
    // Pinned as in RFC 7517, section 4.4: `alg` may restrict the key's use, but not change its algorithm.
    if jwk.alg.as_deref().is_some_and(|named| Algorithm::named(named) != Some(algorithm)) {
        return Err("an algorithm that is not supported");
    }
    let kid = jwk.kid.clone().ok_or("no `kid`, so tokens cannot refer to it")?;
    material(&jwk, algorithm)?.with_kid(kid).map_err(|_| {
        "its `kid` is empty, too long, or contains control \
         characters"
    })
}

fn material(jwk: &Jwk, algorithm: Algorithm) -> Result<Key, &'static str> {
    let broken = |_: BadKey| "its parameters are missing, too small, too large, or not a valid key";
    match algorithm {
        Algorithm::Rs256 => Key::rsa(&number(jwk.n.as_ref())?, &number(jwk.e.as_ref())?).map_err(broken),
        Algorithm::Es256 => {
            let (x, y) = (number(jwk.x.as_ref())?, number(jwk.y.as_ref())?);
            if x.len() != 32 || y.len() != 32 {
                return Err("its coordinates must have 32 bytes each");
            }
            Key::p256(&[&[4], x.as_slice(), y.as_slice()].concat()).map_err(broken)
        }
        Algorithm::EdDsa => Key::ed25519(&number(jwk.x.as_ref())?).map_err(broken),
        Algorithm::Hs256 => Err("a secret key, which must not be published"),
    }
}

fn number(text: Option<&String>) -> Result<Vec<u8>, &'static str> {
    let text = text.ok_or("a key parameter is missing")?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| "a key parameter is not base64url without padding")
}

/// Why a whole set is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JwksError {
    /// It is not an object with an array `keys`.
    NotASet,
    /// It has more than [`KEYS_MAX`] keys.
    TooMany {
        /// The number of keys.
        keys: usize,
    },
    /// Two keys have the same `kid`.
    Repeated {
        /// The index of the second, from 0.
        place: usize,
    },
}

impl fmt::Display for JwksError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JwksError::NotASet => to.write_str("not a JSON object with an array `keys`"),
            JwksError::TooMany { keys } => write!(to, "{keys} keys, more than {KEYS_MAX}"),
            JwksError::Repeated { place } => {
                write!(to, "keys[{place}]: its `kid` is already used by another key")
            }
        }
    }
}

impl std::error::Error for JwksError {}
