//! What other surfaces than channels ask beside verbs: whose a token is, and who is here.

use crate::entrance::{Admitted, Credentials, Rejection};
use crate::messenger::Messenger;
use crate::witness::Witness;

impl Messenger {
    /// Says who is told of everything that happens. A second one is not taken.
    pub fn witness_by(&self, witness: impl Witness) {
        self.inner.out.be_witnessed(witness);
    }

    /// Whose a token is, for one request: as [`Messenger::admit`], but no connection begins, so that it does not matter how
    /// many people are online; and a revoked token is nobody's.
    ///
    /// # Errors
    /// See [`Rejection`].
    pub async fn identify(&self, credentials: &Credentials) -> Result<Admitted, Rejection> {
        let admitted = self.recognise(credentials).await?;
        self.inner.entrance.judge(&admitted.verified)?;
        Ok(admitted)
    }
}
