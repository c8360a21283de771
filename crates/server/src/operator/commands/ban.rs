//! `throng ban`.

use super::super::api_request::{ApiRequest, Form};
use super::super::{Commanded, OperatorError};
use super::part::Part;
use super::times::{duration, end_ms};
use clap::Subcommand;
use hyper::Method;
use serde_json::json;
use std::time::Duration;

/// Bans and mutes.
#[derive(Subcommand, Debug)]
pub(crate) enum BanCommand {
    /// List bans and mutes
    List {
        /// Id of the community
        community: String,
        /// Only those of this room [default: those of the whole community]
        #[arg(long)]
        room: Option<String>,
        #[command(flatten)]
        part: Part,
    },
    /// Ban or mute a person
    Add {
        /// Id of the community
        community: String,
        /// Id of the person
        person: String,
        /// Only in this room [default: in the whole community]
        #[arg(long)]
        room: Option<String>,
        /// Mute instead: let them read, but not write
        #[arg(long)]
        mute: bool,
        /// Duration, such as 90m, 12h or 7d [default: permanent]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        lasts: Option<Duration>,
        /// The reason, shown to moderators
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Lift a ban or mute
    Lift {
        /// Id of the community
        community: String,
        /// Id of the person
        person: String,
        /// Only in this room [default: in the whole community]
        #[arg(long)]
        room: Option<String>,
        /// Lift a mute instead of a ban
        #[arg(long)]
        mute: bool,
    },
}

impl Commanded for BanCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        let within = |request: ApiRequest, room: &Option<String>| match room {
            Some(room) => request.query("conversation", &format!("room:{room}")),
            None => request,
        };
        let kind = |mute: bool| if mute { "mute" } else { "ban" };
        Ok(match self {
            Self::List { community, room, part } => {
                let form = Form::Rows(&["kind", "person", "until", "by", "at", "reason"]);
                within(
                    part.of(ApiRequest::new(Method::GET, &["communities", community, "sanctions"], form)),
                    room,
                )
            }
            Self::Add { community, person, room, mute, lasts, reason } => {
                let path = ["communities", community, "sanctions", kind(*mute), person];
                let until = lasts.map(end_ms);
                let form = Form::Done(format!("{person}: {}", if *mute { "muted" } else { "banned" }));
                within(ApiRequest::new(Method::PUT, &path, form), room)
                    .body(json!({ "until": until, "reason": reason }))
            }
            Self::Lift { community, person, room, mute } => {
                let path = ["communities", community, "sanctions", kind(*mute), person];
                within(ApiRequest::new(Method::DELETE, &path, Form::Done("lifted".to_owned())), room)
            }
        })
    }
}
