//! What other surfaces than channels ask beside verbs.

use crate::messenger::Messenger;
use crate::witness::Witness;

impl Messenger {
    /// Says who is told of everything that happens. A second one is not taken.
    pub fn witness_by(&self, witness: impl Witness) {
        self.inner.out.be_witnessed(witness);
    }
}
