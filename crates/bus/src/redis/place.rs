//! One of the instances over which topics are distributed.

use super::channels::Channels;
use super::keys::Keys;
use ::redis::Client;

/// The client for an instance, and the names and commands to use there.
#[derive(Clone)]
pub(crate) struct Place {
    pub(super) client: Client,
    pub(super) keys: Keys,
    pub(super) channels: Channels,
}
