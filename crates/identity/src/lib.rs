//! Early.
#![allow(missing_docs)]
mod authority;
mod jwks;
mod keys;
mod outbound;
mod rules;
mod token;
pub use authority::{Authority, Community, Verified};
pub use jwks::{Jwks, JwksSettings};
pub use keys::*;
pub use outbound::*;
pub use rules::Rules;
pub use token::*;
