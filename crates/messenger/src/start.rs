//! What is there when nobody has made anything yet.

use crate::messenger::Messenger;
use chat::verbs::{CreateCommunity, CreateRoom};
use chat::{By, CommunityId, Conflict, Failure, RoomName, Settings};

/// The community that everybody has.
pub(crate) const DEFAULT_COMMUNITY: &str = "default";
/// Its room.
pub(crate) const DEFAULT_ROOM: &str = "lobby";

impl Messenger {
    /// Makes the community `default` with the public room `lobby`, if it is not there. A room that was taken away stays
    /// away: only a new community gets one.
    ///
    /// # Errors
    /// The store cannot do it.
    pub async fn prepare_default(&self) -> Result<(), Failure> {
        let invalid = |problem: chat::Problem| Failure::Invalid(vec![problem.at("name")]);
        let community = CommunityId::parse(DEFAULT_COMMUNITY).map_err(invalid)?;
        let room = RoomName::parse(DEFAULT_ROOM).map_err(invalid)?;
        let settings = Settings::named("Throng");
        match self.ask(&community, By::Service, CreateCommunity { settings }).await {
            Ok(_) => {}
            Err(Failure::Conflict(Conflict::NameTaken)) => return Ok(()),
            Err(failure) => return Err(failure),
        }
        self.ask(&community, By::Service, CreateRoom::public(room, "Lobby")).await.map(drop)
    }
}
