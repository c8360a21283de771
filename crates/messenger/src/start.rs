//! The community and the room that every installation starts with.

use crate::messenger::Messenger;
use chat::verbs::{CreateRoom, FurnishCommunity};
use chat::{By, CommunityId, Conflict, Failure, RoomName, Settings};

/// The community that every installation has.
pub(crate) const DEFAULT_COMMUNITY: &str = "default";
/// The room in it.
pub(crate) const DEFAULT_ROOM: &str = "lobby";

impl Messenger {
    /// Creates the community `default` with the public room `lobby`, unless the community exists. A room that was
    /// removed stays removed: only a new community gets one.
    ///
    /// # Errors
    /// The store refused or failed.
    pub async fn prepare_default(&self) -> Result<(), Failure> {
        let invalid = |problem: chat::Problem| Failure::Invalid(vec![problem.at("name")]);
        let community = CommunityId::parse(DEFAULT_COMMUNITY).map_err(invalid)?;
        let room = RoomName::parse(DEFAULT_ROOM).map_err(invalid)?;
        let settings = Settings::named("Throng");
        let room = CreateRoom::public(room, "Lobby");
        match self.ask(&community, By::Service, FurnishCommunity { settings, room }).await {
            Ok(_) | Err(Failure::Conflict(Conflict::NameTaken)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}
