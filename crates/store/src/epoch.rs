//! What one life of a store's order is called.

use chat::{Trouble, TroubleKind};

/// A name for one life of a store's order: 16 hexadecimal digits.
pub(crate) fn fresh_epoch() -> Result<String, Trouble> {
    let number =
        getrandom::u64().map_err(|error| Trouble::new(TroubleKind::Io, format!("no randomness: {error}")))?;
    Ok(format!("{number:016x}"))
}
