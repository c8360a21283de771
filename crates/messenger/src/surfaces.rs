//! What surfaces other than channels need beside verbs.

use crate::messenger::Messenger;
use crate::witness::Witness;

impl Messenger {
    /// Sets the witness, which is passed everything that happens. A second one is ignored.
    pub fn witness_by(&self, witness: impl Witness) {
        self.inner.out.be_witnessed(witness);
    }
}
