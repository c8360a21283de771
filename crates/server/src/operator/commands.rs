//! The commands, as they are written, and what each asks for.

use super::errand::{Errand, Form};
use super::{Commanded, OperatorError};
use clap::{Args, Subcommand, ValueEnum};
use hyper::Method;
use serde_json::{Map, Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A part of a list.
#[derive(Args, Debug)]
pub(crate) struct Part {
    /// Go on after this, as the last part said
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// How many rows
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,
}

impl Part {
    fn of(&self, errand: Errand) -> Errand {
        let errand = errand.query("limit", &self.limit.to_string());
        match &self.after {
            Some(after) => errand.query("after", after),
            None => errand,
        }
    }
}

/// Communities.
#[derive(Subcommand, Debug)]
pub(crate) enum CommunityCommand {
    /// List communities
    List(Part),
    /// Make a community
    Create {
        /// Its name in URLs: a-z, 0-9, - and _
        id: String,
        /// Its name for people [default: the id]
        #[arg(long)]
        name: Option<String>,
    },
    /// Show a community's settings
    Show { id: String },
    /// Change a community's settings, from a file with all of them as JSON (`show --json` has them)
    Change {
        id: String,
        /// The file, or - for standard input
        #[arg(long, value_name = "FILE")]
        settings: std::path::PathBuf,
    },
    /// Write everything of a community but its keys to standard output, a record of JSON a line
    Export { id: String },
    /// Drop what is older than the community keeps, now
    Expire { id: String },
}

impl Commanded for CommunityCommand {
    fn errand(&self) -> Result<Errand, OperatorError> {
        let one = |method, id: &str, form| Errand::new(method, &["communities", id], form);
        Ok(match self {
            Self::List(part) => {
                let fields = &["id", "name", "guests", "limits.history_days", "created"];
                part.of(Errand::new(Method::GET, &["communities"], Form::Rows(fields)))
            }
            Self::Create { id, name } => {
                let settings = json!({ "name": name.as_ref().unwrap_or(id) });
                let form =
                    Form::Done(format!("made the community {id}: `throng key create {id} …` makes its keys"));
                Errand::new(Method::POST, &["communities"], form)
                    .body(json!({ "id": id, "settings": settings }))
            }
            Self::Show { id } => one(Method::GET, id, Form::Fields),
            Self::Change { id, settings } => {
                let form = Form::Done(format!("changed the community {id}"));
                one(Method::PUT, id, form).body(settings_from(settings)?)
            }
            Self::Export { id } => Errand::new(Method::GET, &["communities", id, "export"], Form::Lines),
            Self::Expire { id } => Errand::new(Method::POST, &["communities", id, "retention"], Form::Fields),
        })
    }
}

/// What `show --json` tells beside the settings is left out, so that its output may be edited and given back.
fn settings_from(path: &std::path::Path) -> Result<Value, OperatorError> {
    let wrong = |error: &dyn std::fmt::Display| OperatorError::Wish(format!("{}: {error}", path.display()));
    let text = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin()).map_err(|error| wrong(&error))?
    } else {
        std::fs::read_to_string(path).map_err(|error| wrong(&error))?
    };
    let mut settings: Map<String, Value> = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    settings.remove("id");
    settings.remove("created");
    Ok(Value::Object(settings))
}

/// Keys of a community.
#[derive(Subcommand, Debug)]
pub(crate) enum KeyCommand {
    /// List keys, the revoked too
    List { community: String },
    /// Make a key with which programs use the API; it is shown once
    Create {
        community: String,
        /// What you call it
        #[arg(long)]
        name: String,
        /// What it may do: send, list, moderate, manage_rooms, manage_people, publish, presence
        #[arg(long, value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// How long it counts, such as 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        lasts: Option<Duration>,
    },
    /// Believe people's tokens that were signed by this key
    Trust {
        community: String,
        /// What you call it
        #[arg(long)]
        name: String,
        /// HS256, RS256, ES256 or EdDSA
        #[arg(long)]
        algorithm: String,
        /// The id by which tokens name it
        #[arg(long)]
        kid: Option<String>,
        /// File with the public key in PEM, or for HS256 with the secret
        #[arg(long, value_name = "FILE")]
        file: std::path::PathBuf,
    },
    /// Revoke a key, for good
    Revoke {
        community: String,
        /// Its id, as `list` shows it
        key: String,
    },
}

impl Commanded for KeyCommand {
    fn errand(&self) -> Result<Errand, OperatorError> {
        let all =
            |method, community: &str, form| Errand::new(method, &["communities", community, "keys"], form);
        Ok(match self {
            Self::List { community } => all(
                Method::GET,
                community,
                Form::Rows(&["id", "kind", "name", "prefix", "scopes", "algorithm", "revoked"]),
            ),
            Self::Create { community, name, scopes, lasts } => {
                let mut purpose = json!({ "kind": "server", "scopes": scopes });
                if let Some(lasts) = lasts {
                    purpose["not_after_s"] = (since_1970() + *lasts).as_secs().into();
                }
                let note = "keep it safe: it is shown this once";
                all(Method::POST, community, Form::Once { field: "key", note })
                    .body(json!({ "name": name, "purpose": purpose }))
            }
            Self::Trust { community, name, algorithm, kid, file } => {
                let material = std::fs::read_to_string(file)
                    .map_err(|error| OperatorError::Wish(format!("{}: {error}", file.display())))?;
                let material = if algorithm == "HS256" { material.trim_end().to_owned() } else { material };
                let purpose =
                    json!({ "kind": "token", "algorithm": algorithm, "kid": kid, "material": material });
                let form = Form::Done(format!("tokens of {community} that were signed by it are believed"));
                all(Method::POST, community, form).body(json!({ "name": name, "purpose": purpose }))
            }
            Self::Revoke { community, key } => {
                let form = Form::Done("revoked".to_owned());
                Errand::new(Method::DELETE, &["communities", community, "keys", key], form)
            }
        })
    }
}

/// People of a community.
#[derive(Subcommand, Debug)]
pub(crate) enum PersonCommand {
    /// List people
    List {
        community: String,
        #[command(flatten)]
        part: Part,
    },
    /// Show a person
    Show { community: String, person: String },
    /// Revoke a person's tokens, and close what stands on them
    Revoke {
        community: String,
        person: String,
        /// The one token with this `jti` [default: all that were issued until now]
        #[arg(long)]
        token_id: Option<String>,
    },
    /// Write what there is of a person to standard output, a record of JSON a line
    Export { community: String, person: String },
    /// Erase a person: what they wrote becomes tombstones of nobody
    Erase {
        community: String,
        person: String,
        /// That you mean it
        #[arg(long, required = true)]
        yes: bool,
    },
}

impl Commanded for PersonCommand {
    fn errand(&self) -> Result<Errand, OperatorError> {
        let one = |method, community: &str, person: &str, form| {
            Errand::new(method, &["communities", community, "people", person], form)
        };
        Ok(match self {
            Self::List { community, part } => {
                let form = Form::Rows(&["id", "name", "role", "guest", "seen"]);
                part.of(Errand::new(Method::GET, &["communities", community, "people"], form))
            }
            Self::Show { community, person } => one(Method::GET, community, person, Form::Fields),
            Self::Revoke { community, person, token_id } => {
                let path = ["communities", community, "people", person, "revocations"];
                Errand::new(Method::POST, &path, Form::Fields).body(json!({ "token_id": token_id }))
            }
            Self::Export { community, person } => {
                Errand::new(Method::GET, &["communities", community, "people", person, "export"], Form::Lines)
            }
            Self::Erase { community, person, yes: _ } => one(Method::DELETE, community, person, Form::Fields),
        })
    }
}

/// Rooms of a community.
#[derive(Subcommand, Debug)]
pub(crate) enum RoomCommand {
    /// List rooms
    List {
        community: String,
        #[command(flatten)]
        part: Part,
    },
    /// Make a room
    Create {
        community: String,
        /// Its name in its URL: a-z, 0-9, - and _
        name: String,
        /// For people [default: the name]
        #[arg(long)]
        title: Option<String>,
        /// Who may see and enter it
        #[arg(long, value_enum, default_value_t = RoomKind::Public)]
        kind: RoomKind,
    },
    /// Show a room
    Show { community: String, name: String },
}

/// Who may see and enter a room.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoomKind {
    /// Everybody, guests too
    Public,
    /// Everybody with an account
    Members,
    /// The invited
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
    fn errand(&self) -> Result<Errand, OperatorError> {
        Ok(match self {
            Self::List { community, part } => {
                let form = Form::Rows(&["name", "kind", "title", "members", "last", "id"]);
                part.of(Errand::new(Method::GET, &["communities", community, "rooms"], form))
            }
            Self::Create { community, name, title, kind } => {
                let form = Form::Done(format!("made the room /c/{community}/r/{name}"));
                let room =
                    json!({ "name": name, "kind": kind.name(), "title": title.as_ref().unwrap_or(name) });
                Errand::new(Method::POST, &["communities", community, "rooms"], form).body(room)
            }
            Self::Show { community, name } => {
                let room = format!("room:{name}");
                Errand::new(Method::GET, &["communities", community, "conversations", &room], Form::Fields)
            }
        })
    }
}

/// Bans and mutes.
#[derive(Subcommand, Debug)]
pub(crate) enum BanCommand {
    /// List bans and mutes
    List {
        community: String,
        /// Of this room [default: of the whole community]
        #[arg(long)]
        room: Option<String>,
        #[command(flatten)]
        part: Part,
    },
    /// Ban somebody
    Add {
        community: String,
        person: String,
        /// From this room [default: from the whole community]
        #[arg(long)]
        room: Option<String>,
        /// Let them read, and not write
        #[arg(long)]
        mute: bool,
        /// How long, such as 90m, 12h or 7d [default: for ever]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        lasts: Option<Duration>,
        /// Why, for moderators
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Lift a ban
    Lift {
        community: String,
        person: String,
        /// In this room [default: in the whole community]
        #[arg(long)]
        room: Option<String>,
        /// Lift a mute
        #[arg(long)]
        mute: bool,
    },
}

impl Commanded for BanCommand {
    fn errand(&self) -> Result<Errand, OperatorError> {
        let within = |errand: Errand, room: &Option<String>| match room {
            Some(room) => errand.query("conversation", &format!("room:{room}")),
            None => errand,
        };
        let kind = |mute: bool| if mute { "mute" } else { "ban" };
        Ok(match self {
            Self::List { community, room, part } => {
                let form = Form::Rows(&["kind", "person", "until", "by", "at", "reason"]);
                within(
                    part.of(Errand::new(Method::GET, &["communities", community, "sanctions"], form)),
                    room,
                )
            }
            Self::Add { community, person, room, mute, lasts, reason } => {
                let path = ["communities", community, "sanctions", kind(*mute), person];
                let until = lasts.map(|lasts| (since_1970() + lasts).as_millis() as u64);
                let form = Form::Done(format!("{person}: {}", if *mute { "muted" } else { "banned" }));
                within(Errand::new(Method::PUT, &path, form), room)
                    .body(json!({ "until": until, "reason": reason }))
            }
            Self::Lift { community, person, room, mute } => {
                let path = ["communities", community, "sanctions", kind(*mute), person];
                within(Errand::new(Method::DELETE, &path, Form::Done("lifted".to_owned())), room)
            }
        })
    }
}

/// Where communities are told what happens.
#[derive(Subcommand, Debug)]
pub(crate) enum WebhookCommand {
    /// List endpoints
    List { community: String },
    /// Make an endpoint; the secret that requests are signed with is shown once
    Create {
        community: String,
        /// What you call it
        #[arg(long)]
        name: String,
        /// Where; begins with https://
        #[arg(long)]
        url: String,
        /// What it is told, such as message.sent [default: everything]
        #[arg(long, value_delimiter = ',')]
        events: Vec<String>,
    },
    /// Remove an endpoint
    Delete { community: String, webhook: String },
    /// See what was given up
    DeadLetters { community: String, webhook: String },
}

impl Commanded for WebhookCommand {
    fn errand(&self) -> Result<Errand, OperatorError> {
        Ok(match self {
            Self::List { community } => {
                let form = Form::Rows(&["id", "name", "url", "events"]);
                Errand::new(Method::GET, &["communities", community, "webhooks"], form)
            }
            Self::Create { community, name, url, events } => {
                let note = "requests are signed with it (Standard Webhooks): it is shown this once";
                let form = Form::Once { field: "secret", note };
                Errand::new(Method::POST, &["communities", community, "webhooks"], form)
                    .body(json!({ "name": name, "url": url, "events": events }))
            }
            Self::Delete { community, webhook } => {
                let form = Form::Done("removed".to_owned());
                Errand::new(Method::DELETE, &["communities", community, "webhooks", webhook], form)
            }
            Self::DeadLetters { community, webhook } => {
                let form = Form::Rows(&["id", "attempts", "why", "at", "body"]);
                Errand::new(
                    Method::GET,
                    &["communities", community, "webhooks", webhook, "dead-letters"],
                    form,
                )
            }
        })
    }
}

/// Numbers of the server, or of a community.
#[derive(Args, Debug)]
pub(crate) struct StatsCommand {
    /// A community [default: the whole server]
    community: Option<String>,
}

impl Commanded for StatsCommand {
    fn errand(&self) -> Result<Errand, OperatorError> {
        Ok(match &self.community {
            Some(community) => Errand::new(Method::GET, &["communities", community, "stats"], Form::Fields),
            None => Errand::new(Method::GET, &["stats"], Form::Fields),
        })
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A number with a unit: s, m, h or d.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number with a unit, such as 90m, 12h or 7d".to_owned();
    let (number, unit_s) = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number
        .checked_mul(unit_s)
        .filter(|seconds| *seconds <= 100 * 365 * 86_400)
        .map(Duration::from_secs)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(duration("7d"), Ok(Duration::from_secs(604_800)));
        for text in ["7", "d", "-1h", "1.5h", "99999999999d", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn settings_that_were_shown_can_be_given_back() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), r#"{"id": "a", "created": 1, "name": "A"}"#).expect("written");
        assert_eq!(settings_from(file.path()).expect("read"), json!({ "name": "A" }));
    }
}
