//! Store epochs.

use chat::{StoreError, StoreErrorKind};

/// Draws a new epoch, which identifies one lifetime of a store's data: 16 hexadecimal digits.
pub(crate) fn fresh_epoch() -> Result<String, StoreError> {
    let number = getrandom::u64().map_err(|error| {
        StoreError::new(
            StoreErrorKind::Io,
            format!(
                "the system provides no random \
             numbers: {error}"
            ),
        )
    })?;
    Ok(format!("{number:016x}"))
}
