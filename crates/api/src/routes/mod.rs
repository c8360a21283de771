//! All operations, grouped by the objects that they concern: one file per group, whose `group` is its part of the
//! table.

mod authorizer;
mod communities;
mod conversations;
mod data;
mod direct;
mod following;
mod guests;
mod invitations;
mod keys;
mod members;
mod messages;
mod moderation;
mod paths;
mod people;
mod publishing;
mod reports;
mod rooms;
mod searching;
mod webhooks;

use crate::operation::Group;

/// The whole table.
pub(crate) fn all() -> Vec<Group> {
    vec![
        communities::group(),
        keys::group(),
        people::group(),
        guests::group(),
        rooms::group(),
        conversations::group(),
        members::group(),
        invitations::group(),
        messages::group(),
        searching::group(),
        following::group(),
        direct::group(),
        moderation::group(),
        reports::group(),
        publishing::group(),
        webhooks::group(),
        authorizer::group(),
        data::group(),
    ]
}
