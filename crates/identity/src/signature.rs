//! Signatures of requests to a host site, by which it can authenticate them.
//!
//! The scheme is Standard Webhooks (<https://www.standardwebhooks.com>, specification 1.0.0), which has libraries in a
//! dozen languages. It uses the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, and signs
//! `id.timestamp.body` by HMAC-SHA256.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::token::UnixSeconds;

/// Prefix of the text form of secrets.
const SECRET_PREFIX: &str = "whsec_";
/// Length of a secret, in bytes, as the specification requires.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// Maximum number of signatures in one header; receivers look at no more.
const SIGNATURES_MAX: usize = 8;

/// Maximum age of a signed request, in either direction, that a receiver accepts: it limits replays.
pub const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(300);

/// A secret shared by this server and one receiver.
#[derive(Clone)]
pub struct SigningSecret {
    bytes: Vec<u8>,
}

impl SigningSecret {
    /// Creates a secret from randomness.
    pub fn mint(entropy: [u8; 32]) -> Self {
        SigningSecret { bytes: entropy.to_vec() }
    }

    /// Parses `whsec_` followed by base64.
    ///
    /// # Errors
    /// [`BadSecret`].
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(BadSecret::Prefix)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| BadSecret::Base64)?;
        if SECRET_BYTES.contains(&bytes.len()) { Ok(SigningSecret { bytes }) } else { Err(BadSecret::Length) }
    }

    /// Returns the text form, for copying.
    pub fn expose(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(&self.bytes))
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.bytes)
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("SigningSecret(hidden)")
    }
}

/// The secrets that requests to one receiver are signed with: the newest, and during rotation also the older ones,
/// since the receiver may know either.
#[derive(Clone, Debug)]
pub struct SigningSecrets {
    newest: SigningSecret,
    older: Vec<SigningSecret>,
}

impl SigningSecrets {
    /// Keeps at most seven older secrets.
    pub fn new(newest: SigningSecret, mut older: Vec<SigningSecret>) -> Self {
        older.truncate(SIGNATURES_MAX - 1);
        SigningSecrets { newest, older }
    }
}

impl From<SigningSecret> for SigningSecrets {
    fn from(only: SigningSecret) -> Self {
        SigningSecrets::new(only, Vec::new())
    }
}

/// Returns the headers of a signed request, with lower-case names: one signature per secret.
pub fn sign(secrets: &SigningSecrets, id: &str, at: UnixSeconds, body: &[u8]) -> [(&'static str, String); 3] {
    let signatures: Vec<String> = std::iter::once(&secrets.newest)
        .chain(&secrets.older)
        .map(|secret| format!("v1,{}", STANDARD.encode(hmac::sign(&secret.key(), &signed(id, at, body)))))
        .collect();
    [
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", at.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ]
}

/// Verifies a request as a receiver does: checks the age, and compares signatures in constant time.
///
/// # Errors
/// [`SignatureError`].
pub fn verify(
    secret: &SigningSecret,
    id: &str,
    timestamp: &str,
    signatures: &str,
    body: &[u8],
    now: UnixSeconds,
) -> Result<(), SignatureError> {
    let at = timestamp.parse().map(UnixSeconds).map_err(|_| SignatureError::Timestamp)?;
    if at.plus(SIGNATURE_AGE_MAX) < now || now.plus(SIGNATURE_AGE_MAX) < at {
        return Err(SignatureError::Age);
    }
    let (key, message) = (secret.key(), signed(id, at, body));
    let ours = signatures
        .split(' ')
        .take(SIGNATURES_MAX)
        .filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok())
        .any(|signature| hmac::verify(&key, &message, &signature).is_ok());
    if ours { Ok(()) } else { Err(SignatureError::Signature) }
}

fn signed(id: &str, at: UnixSeconds, body: &[u8]) -> Vec<u8> {
    [format!("{id}.{at}.").as_bytes(), body].concat()
}

/// Why a text is not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSecret {
    /// It does not begin with `whsec_`.
    Prefix,
    /// The rest is not base64.
    Base64,
    /// It does not have 24 to 64 bytes.
    Length,
}

impl fmt::Display for BadSecret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            BadSecret::Prefix => "a signing secret begins with whsec_",
            BadSecret::Base64 => "the part of a signing secret after whsec_ must be base64",
            BadSecret::Length => "a signing secret has 24 to 64 bytes",
        })
    }
}

impl std::error::Error for BadSecret {}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureError {
    /// The timestamp is not a number of seconds.
    Timestamp,
    /// It is further from now than [`SIGNATURE_AGE_MAX`].
    Age,
    /// No signature matches the secret.
    Signature,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            SignatureError::Timestamp => "webhook-timestamp: not a number of seconds",
            SignatureError::Age => "webhook-timestamp: too long ago, or in the future",
            SignatureError::Signature => "webhook-signature: no signature matches this secret",
        })
    }
}

impl std::error::Error for SignatureError {}

#[cfg(test)]
mod tests {
    use super::{BadSecret, SignatureError, SigningSecret, SigningSecrets, sign, verify};
    use crate::token::UnixSeconds;

    const NOW: UnixSeconds = UnixSeconds(1_614_265_330);

    /// The example of the specification's reference libraries.
    #[test]
    fn the_reference_libraries_sign_the_same() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
        let [id, timestamp, signature] =
            sign(&secret.into(), "msg_p5jXN8AQM9LWM0D4loKWxJek", NOW, br#"{"test": 2432232314}"#);
        assert_eq!(id.1, "msg_p5jXN8AQM9LWM0D4loKWxJek");
        assert_eq!(timestamp.1, "1614265330");
        assert_eq!(signature.1, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn either_secret_verifies_while_one_is_changed() {
        let (old, new, other) =
            (SigningSecret::mint([1; 32]), SigningSecret::mint([2; 32]), SigningSecret::mint([3; 32]));
        let [id, timestamp, signatures] =
            sign(&SigningSecrets::new(new.clone(), vec![old.clone()]), "m1", NOW, b"{}");
        let judge = |secret, body: &[u8], now| verify(secret, &id.1, &timestamp.1, &signatures.1, body, now);
        assert_eq!(judge(&old, b"{}", NOW), Ok(()));
        assert_eq!(judge(&new, b"{}", UnixSeconds(NOW.0 + 300)), Ok(()));
        assert_eq!(judge(&other, b"{}", NOW), Err(SignatureError::Signature));
        assert_eq!(judge(&new, b"{ }", NOW), Err(SignatureError::Signature));
        assert_eq!(judge(&new, b"{}", UnixSeconds(NOW.0 + 301)), Err(SignatureError::Age));
        assert_eq!(judge(&new, b"{}", UnixSeconds(NOW.0 - 301)), Err(SignatureError::Age));
        assert_eq!(verify(&new, &id.1, "soon", &signatures.1, b"{}", NOW), Err(SignatureError::Timestamp));
        assert_eq!(
            verify(&new, "m2", &timestamp.1, &signatures.1, b"{}", NOW),
            Err(SignatureError::Signature)
        );
    }

    #[test]
    fn a_secret_is_copied_as_text_and_hidden_otherwise() {
        let secret = SigningSecret::mint([7; 32]);
        let again = SigningSecret::parse(&secret.expose()).expect("what it wrote");
        assert_eq!(again.expose(), secret.expose());
        assert_eq!(format!("{secret:?}"), "SigningSecret(hidden)");
        let bad = |text: &str| SigningSecret::parse(text).expect_err("not a secret");
        assert_eq!(bad("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), BadSecret::Prefix);
        assert_eq!(bad("whsec_!"), BadSecret::Base64);
        assert_eq!(bad("whsec_AAAA"), BadSecret::Length);
    }
}
