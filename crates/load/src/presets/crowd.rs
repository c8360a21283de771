//! How users of a preset enter a room and send messages in it, with Phoenix or with a plain WebSocket.

use super::{Place, PresetError};
use crate::cli::{Crowd, Dialect};
use crate::scenario::source::{Action, Audience, Connect, Join, PhoenixVersion, Push, Send, Sizes, Step};

/// The steps of a dialect.
#[derive(Clone, Debug)]
pub struct Talk {
    place: Place,
    phoenix: Option<PhoenixVersion>,
    event: String,
}

impl Talk {
    /// Returns the dialect that the arguments ask for.
    ///
    /// # Errors
    /// [`PresetError::Url`].
    pub fn new(crowd: &Crowd) -> Result<Self, PresetError> {
        let mut talk = Self::at(&crowd.url, crowd.dialect)?;
        talk.event.clone_from(&crowd.event);
        Ok(talk)
    }

    /// Returns the dialect for a URL; if none is given, it is derived from the path.
    ///
    /// # Errors
    /// [`PresetError::Url`].
    pub fn at(url: &str, dialect: Option<Dialect>) -> Result<Self, PresetError> {
        let place = Place::web_socket(url)?;
        let phoenix = match dialect {
            Some(Dialect::PhoenixV1) => Some(PhoenixVersion::V1),
            Some(Dialect::PhoenixV2) => Some(PhoenixVersion::V2),
            Some(Dialect::Plain) => None,
            None => place.is_phoenix().then_some(PhoenixVersion::V2),
        };
        Ok(Self { place, phoenix, event: "new_msg".to_owned() })
    }

    /// Returns the target of the scenario.
    #[must_use]
    pub fn target(&self) -> String {
        self.place.target.clone()
    }

    /// Returns the steps that connect and enter the room: a Phoenix topic, or the URL's path itself.
    pub(super) fn enter(&self, topic: &str) -> Vec<Step> {
        let connect = Connect { path: self.place.path.clone(), phoenix: self.phoenix, ..Connect::default() };
        if self.phoenix.is_some() {
            return vec![Action::Connect(connect).into(), Action::Join(Join::topic(topic)).into()];
        }
        let room = Some(self.place.path.clone());
        vec![Action::Connect(Connect { room, echo: true, ..connect }).into()]
    }

    /// Returns the steps that connect and enter one of several rooms: a Phoenix topic, or a path below the URL's.
    pub(super) fn enter_one(&self, topic_prefix: &str, number: &str) -> Vec<Step> {
        if self.phoenix.is_some() {
            return self.enter(&format!("{topic_prefix}{number}"));
        }
        let path = format!("{}/{number}", self.place.path.trim_end_matches('/'));
        let connect = Connect { room: Some(path.clone()), path, echo: true, ..Connect::default() };
        vec![Action::Connect(connect).into()]
    }

    /// Returns a step that sends a message of this size to everyone in the room.
    pub(super) fn say(&self, topic: &str, bytes: Sizes) -> Step {
        if self.phoenix.is_none() {
            let send = Send { size: Some(bytes), audience: Audience::Room, ..Send::default() };
            return Action::Send(send).into();
        }
        let push = Push {
            topic: topic.to_owned(),
            event: self.event.clone(),
            size: Some(bytes),
            audience: Audience::Room,
            ..Push::default()
        };
        Action::Push(push).into()
    }
}
