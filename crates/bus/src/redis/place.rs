//! An instance of those among which topics are divided.

use super::channels::Channels;
use super::keys::Keys;
use ::redis::Client;

/// Where an instance is, and how it is spoken to.
#[derive(Clone)]
pub(crate) struct Place {
    pub(super) client: Client,
    pub(super) keys: Keys,
    pub(super) channels: Channels,
}
