//! A single verification key.

use std::fmt;

use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;

use super::spki::{self, PublicKey};
use crate::token::{Algorithm, ID_BYTES_MAX, UnixSeconds};

/// Minimum length of a shared secret, in bytes: the width of the hash (RFC 7518, section 3.2).
pub const SECRET_BYTES_MIN: usize = 32;
/// Its maximum length; anything longer is a mistake, such as a whole file.
const SECRET_BYTES_MAX: usize = 4096;
/// Size of an RSA modulus, in bytes: 2048 to 8192 bits (RFC 7518, section 3.3, for the lower bound).
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// Whose tokens a key verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The community's own site.
    HostSite,
    /// This server, for guests.
    Guests,
}

/// A key that verifies by exactly one algorithm.
#[derive(Clone)]
pub struct Key {
    kid: Option<String>,
    issuer: Issuer,
    material: Material,
    not_after: Option<UnixSeconds>,
}

/// The key material determines the algorithm, so the two cannot diverge.
#[derive(Clone)]
enum Material {
    Secret(hmac::Key),
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    P256(UnparsedPublicKey<Vec<u8>>),
    Ed25519(UnparsedPublicKey<Vec<u8>>),
}

impl Key {
    /// A secret shared by the host site and the server, for HS256.
    ///
    /// # Errors
    /// [`BadKey::SecretLength`], and [`BadKey::SecretIsPublic`] for a public key in PEM, which is no secret.
    pub fn hs256(secret: &[u8]) -> Result<Self, BadKey> {
        if !(SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&secret.len()) {
            return Err(BadKey::SecretLength { bytes: secret.len() });
        }
        if secret.trim_ascii_start().starts_with(b"-----BEGIN") {
            return Err(BadKey::SecretIsPublic);
        }
        Ok(Key::from_material(Material::Secret(hmac::Key::new(hmac::HMAC_SHA256, secret))))
    }

    /// A public key in PEM (`-----BEGIN PUBLIC KEY-----`, RFC 7468, section 13), which must be of `algorithm`.
    ///
    /// # Errors
    /// [`BadKey::NotPem`], [`BadKey::Structure`], and [`BadKey::Algorithm`] if the key is of another kind.
    pub fn pem(pem: &[u8], algorithm: Algorithm) -> Result<Self, BadKey> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| BadKey::NotPem)?;
        let key = match spki::read(&der).ok_or(BadKey::Structure)? {
            PublicKey::Rsa { modulus, exponent } => Key::rsa(modulus, exponent)?,
            PublicKey::P256 { point } => Key::p256(point)?,
            PublicKey::Ed25519 { point } => Key::ed25519(point)?,
        };
        if key.algorithm() == algorithm {
            Ok(key)
        } else {
            Err(BadKey::Algorithm { wanted: algorithm, is: key.algorithm() })
        }
    }

    /// An RSA key for RS256, from its numbers as big-endian bytes.
    pub(crate) fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Self, BadKey> {
        let bare = |number: &[u8]| number.iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<u8>>();
        let (n, e) = (bare(modulus), bare(exponent));
        if !MODULUS_BYTES.contains(&n.len()) || e.is_empty() {
            return Err(BadKey::RsaSize { bits: n.len() * 8 });
        }
        Ok(Key::from_material(Material::Rsa(RsaPublicKeyComponents { n, e })))
    }

    /// A P-256 key for ES256, as an uncompressed point (SEC 1, section 2.3.3).
    pub(crate) fn p256(point: &[u8]) -> Result<Self, BadKey> {
        if point.len() != 65 || point[0] != 4 {
            return Err(BadKey::Structure);
        }
        Ok(Key::from_material(Material::P256(UnparsedPublicKey::new(
            &ECDSA_P256_SHA256_FIXED,
            point.to_vec(),
        ))))
    }

    /// An Ed25519 key for EdDSA (RFC 8032, section 5.1.5).
    pub(crate) fn ed25519(point: &[u8]) -> Result<Self, BadKey> {
        if point.len() != 32 {
            return Err(BadKey::Structure);
        }
        Ok(Key::from_material(Material::Ed25519(UnparsedPublicKey::new(&ED25519, point.to_vec()))))
    }

    /// Sets the key's `kid`.
    ///
    /// # Errors
    /// [`BadKey::Kid`].
    pub fn with_kid(mut self, kid: impl Into<String>) -> Result<Self, BadKey> {
        let kid = kid.into();
        if kid.is_empty() || kid.len() > ID_BYTES_MAX || kid.chars().any(char::is_control) {
            return Err(BadKey::Kid);
        }
        self.kid = Some(kid);
        Ok(self)
    }

    /// Sets the last second in which the key is accepted: retires an old key while its tokens run out.
    #[must_use]
    pub fn until(mut self, not_after: UnixSeconds) -> Self {
        self.not_after = Some(not_after);
        self
    }

    /// Makes it a key for guests' tokens.
    pub(crate) fn for_guests(mut self) -> Self {
        self.issuer = Issuer::Guests;
        self
    }

    fn from_material(material: Material) -> Self {
        Key { kid: None, issuer: Issuer::HostSite, material, not_after: None }
    }

    /// The algorithm that it is pinned to.
    pub fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Secret(_) => Algorithm::Hs256,
            Material::Rsa(_) => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    /// The key's `kid`.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Whose tokens it verifies.
    pub fn issuer(&self) -> Issuer {
        self.issuer
    }

    /// Whether it is accepted at that time.
    pub fn is_valid(&self, now: UnixSeconds) -> bool {
        self.not_after.is_none_or(|not_after| now <= not_after)
    }

    /// Whether `signature` is this key's signature of `signed`, by this key's algorithm. MACs are compared in constant
    /// time.
    pub(crate) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Secret(key) => hmac::verify(key, signed, signature).is_ok(),
            Material::Rsa(key) => key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, signature).is_ok(),
            Material::P256(key) | Material::Ed25519(key) => key.verify(signed, signature).is_ok(),
        }
    }
}

impl fmt::Debug for Key {
    /// Leaves out the key material.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Key")
            .field("kid", &self.kid)
            .field("algorithm", &self.algorithm())
            .field("issuer", &self.issuer)
            .field("not_after", &self.not_after)
            .finish_non_exhaustive()
    }
}

/// Why a key is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadKey {
    /// A shared secret is too short, or absurdly long.
    SecretLength {
        /// Its length.
        bytes: usize,
    },
    /// A shared secret is a key in PEM: a public key is not secret.
    SecretIsPublic,
    /// The PEM contains no `PUBLIC KEY`.
    NotPem,
    /// The key is malformed, or of an unsupported kind.
    Structure,
    /// The key is of a different algorithm than stated.
    Algorithm {
        /// The stated algorithm.
        wanted: Algorithm,
        /// The actual algorithm.
        is: Algorithm,
    },
    /// An RSA key is too small or too large.
    RsaSize {
        /// The size of its modulus in bits, rounded to whole bytes.
        bits: usize,
    },
    /// The `kid` is empty, too long, or contains control characters.
    Kid,
}

impl fmt::Display for BadKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadKey::SecretLength { bytes } => {
                write!(
                    to,
                    "a secret for HS256 must have {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} bytes, not {bytes}"
                )
            }
            BadKey::SecretIsPublic => to.write_str(
                "a secret for HS256 must not be a PEM key: use RS256, ES256 or EdDSA as the algorithm",
            ),
            BadKey::NotPem => to.write_str("not a PEM file with `-----BEGIN PUBLIC KEY-----` and base64"),
            BadKey::Structure => to.write_str("not an RSA, P-256 or Ed25519 public key"),
            BadKey::Algorithm { wanted, is } => write!(to, "the key is for {is}, not for {wanted}"),
            BadKey::RsaSize { bits } => write!(to, "an RSA key must have 2048 to 8192 bits, not {bits}"),
            BadKey::Kid => {
                write!(to, "a key's id must have 1 to {ID_BYTES_MAX} bytes and no control characters")
            }
        }
    }
}

impl std::error::Error for BadKey {}
