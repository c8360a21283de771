//! Public keys as `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7), of the three supported kinds.
//!
//! Parses what an administrator configures, not what a client sends. Anything not exactly of the form below is
//! rejected; whether the numbers form a valid key is left to the cryptographic library.

/// The key inside, borrowed from the encoding.
pub(super) enum PublicKey<'der> {
    Rsa { modulus: &'der [u8], exponent: &'der [u8] },
    P256 { point: &'der [u8] },
    Ed25519 { point: &'der [u8] },
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

/// `AlgorithmIdentifier`s without their outermost header: rsaEncryption with its NULL (RFC 3279, section 2.3.1),
/// id-ecPublicKey on prime256v1 (RFC 5480, section 2.1.1), id-Ed25519 (RFC 8410, section 3).
const RSA: &[u8] = &[0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 0x05, 0];
const P256: &[u8] =
    &[0x06, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const ED25519: &[u8] = &[0x06, 3, 0x2b, 0x65, 0x70];

pub(super) fn read(der: &[u8]) -> Option<PublicKey<'_>> {
    let whole = only(der, SEQUENCE)?;
    let (algorithm, rest) = element(whole, SEQUENCE)?;
    // The first byte of a bit string counts its unused bits; a key has none.
    let bits = only(rest, BIT_STRING)?.strip_prefix(&[0])?;
    match algorithm {
        RSA => {
            let (modulus, rest) = element(only(bits, SEQUENCE)?, INTEGER)?;
            Some(PublicKey::Rsa { modulus, exponent: only(rest, INTEGER)? })
        }
        P256 => Some(PublicKey::P256 { point: bits }),
        ED25519 => Some(PublicKey::Ed25519 { point: bits }),
        _ => None,
    }
}

/// The content of an element that makes up all of `der`.
fn only(der: &[u8], tag: u8) -> Option<&[u8]> {
    element(der, tag).filter(|(_, rest)| rest.is_empty()).map(|(content, _)| content)
}

/// Splits an element into its content and what follows it (X.690, section 8.1). Lengths have at most two bytes: 64 KiB.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let rest = der.strip_prefix(&[tag])?;
    let (length, rest) = match *rest {
        [short @ 0..=0x7f, ref rest @ ..] => (usize::from(short), rest),
        [0x81, length, ref rest @ ..] => (usize::from(length), rest),
        [0x82, high, low, ref rest @ ..] => (usize::from(high) << 8 | usize::from(low), rest),
        _ => return None,
    };
    rest.split_at_checked(length)
}
