//! The commands as they are written, and the request of each.

mod ban;
mod community;
mod key;
mod part;
mod person;
mod room;
mod stats;
mod times;
mod webhook;

pub(crate) use ban::BanCommand;
pub(crate) use community::CommunityCommand;
pub(crate) use key::KeyCommand;
pub(crate) use person::PersonCommand;
pub(crate) use room::RoomCommand;
pub(crate) use stats::StatsCommand;
pub(crate) use webhook::WebhookCommand;
