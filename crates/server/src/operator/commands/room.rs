//! `throng room`.

use super::super::api_request::{ApiRequest, Form};
use super::super::{Commanded, OperatorError};
use super::part::Part;
use clap::{Subcommand, ValueEnum};
use hyper::Method;
use serde_json::json;

/// Rooms of a community.
#[derive(Subcommand, Debug)]
pub(crate) enum RoomCommand {
    /// List rooms
    List {
        /// Id of the community
        community: String,
        #[command(flatten)]
        part: Part,
    },
    /// Create a room
    Create {
        /// Id of the community
        community: String,
        /// Its name in URLs: a-z, 0-9, - and _
        name: String,
        /// Its display name [default: the name]
        #[arg(long)]
        title: Option<String>,
        /// Who can see and enter it
        #[arg(long, value_enum, default_value_t = RoomKind::Public)]
        kind: RoomKind,
    },
    /// Show a room
    Show { community: String, name: String },
    /// Erase a room with everything in it: messages, members, what moderators did in it
    Erase {
        /// Id of the community
        community: String,
        name: String,
        /// Confirm that everything in the room is to be erased
        #[arg(long, required = true)]
        yes: bool,
    },
}

/// Who may see and enter a room.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoomKind {
    /// Everyone, including guests
    Public,
    /// Everyone with an account
    Members,
    /// Invited people only
    Private,
}

impl RoomKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Members => "members",
            Self::Private => "private",
        }
    }
}

impl Commanded for RoomCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        let one = |method, community: &str, name: &str| {
            let room = format!("room:{name}");
            ApiRequest::new(method, &["communities", community, "conversations", &room], Form::Fields)
        };
        Ok(match self {
            Self::List { community, part } => {
                let form = Form::Rows(&["name", "kind", "title", "members", "last", "id"]);
                part.of(ApiRequest::new(Method::GET, &["communities", community, "rooms"], form))
            }
            Self::Create { community, name, title, kind } => {
                let form = Form::Done(format!("created the room /c/{community}/r/{name}"));
                let room =
                    json!({ "name": name, "kind": kind.name(), "title": title.as_ref().unwrap_or(name) });
                ApiRequest::new(Method::POST, &["communities", community, "rooms"], form).body(room)
            }
            Self::Show { community, name } => one(Method::GET, community, name),
            Self::Erase { community, name, yes: _ } => one(Method::DELETE, community, name),
        })
    }
}
