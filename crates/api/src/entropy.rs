//! Random numbers for ids and secrets.

use crate::problem::{Code, Problem};
use identity::SigningSecret;

/// Returns random bytes.
///
/// # Errors
/// [`Code::Internal`]: the system has no random numbers.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Problem> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system provides no random numbers");
        Problem::new(Code::Internal, "the system provides no random numbers")
    })?;
    Ok(bytes)
}

/// Creates a secret that signs requests to a host site, as text.
///
/// # Errors
/// As [`bytes()`].
pub(crate) fn signing_secret() -> Result<String, Problem> {
    Ok(SigningSecret::mint(bytes()?).expose())
}
