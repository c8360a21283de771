//! Random numbers for what is made here.

use crate::problem::{Code, Problem};
use identity::SigningSecret;

/// Random bytes.
///
/// # Errors
/// [`Code::Internal`]: the machine has none.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Problem> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "no random numbers");
        Problem::new(Code::Internal, "the machine has no random numbers")
    })?;
    Ok(bytes)
}

/// A new secret that requests to a host site are signed with, as text.
///
/// # Errors
/// As [`bytes`].
pub(crate) fn signing_secret() -> Result<String, Problem> {
    Ok(SigningSecret::mint(bytes()?).expose())
}
