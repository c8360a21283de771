//! Communities, the tenants of an installation, and their keys.

use crate::ids::{CommunityId, KeyId};
use crate::limits::{NAME_BYTES_MAX, ORIGINS_MAX, URL_BYTES_MAX};
use crate::moment::Moment;
use crate::problem::{Problem, Problems};
use crate::{Failure, text};
use serde::{Deserialize, Serialize};

/// A community.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Community {
    /// Its name in URLs.
    pub id: CommunityId,
    /// When it was made.
    pub created: Moment,
    /// When a part of it was erased last, if it is being erased: it is there for nobody then, and its name is taken until nothing is
    /// left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasing: Option<Moment>,
    /// What its owner chooses.
    #[serde(flatten)]
    pub settings: Settings,
}

/// What a community's owner chooses, but for the limits, which are the operator's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Its name for people.
    pub name: String,
    /// From which pages people may connect: `https://example.org`, without a path, each by its whole name. None: from every one
    /// that the server lets in.
    #[serde(default)]
    pub origins: Vec<String>,
    /// How much it may use.
    #[serde(default)]
    pub limits: CommunityLimits,
    /// Messages older than so many days are dropped, where the limits keep them longer; none: as long as those say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_days: Option<u32>,
    /// What guests may do.
    #[serde(default)]
    pub guests: GuestPolicy,
    /// Whether people find each other anywhere in the community; otherwise only who shares a conversation does.
    #[serde(default)]
    pub people_find_each_other: bool,
    /// Whether people make rooms; otherwise the community's moderators and keys do.
    #[serde(default)]
    pub people_make_rooms: bool,
    /// How it looks.
    #[serde(default)]
    pub look: Look,
}

/// How much a community may use. Whoever holds the connections enforces the first three, who applies retention the fourth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommunityLimits {
    /// People with a connection at once, each counted once however many they have, and on whichever server; none: as many as
    /// the servers hold.
    pub people_online: Option<u32>,
    /// Messages a minute from one person, on each server.
    pub messages_per_minute: u32,
    /// Messages a minute from all of it together, on each server; none: as many as its people may send.
    pub community_messages_per_minute: Option<u32>,
    /// Messages older than so many days are dropped; none: kept.
    pub history_days: Option<u32>,
    /// A file, in bytes: for whoever takes the files, of which the messenger knows references only.
    pub upload_bytes: u64,
}

impl Default for CommunityLimits {
    fn default() -> Self {
        Self {
            people_online: None,
            messages_per_minute: 120,
            community_messages_per_minute: None,
            history_days: None,
            upload_bytes: 25 << 20,
        }
    }
}

/// What guests (people without an account) may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuestPolicy {
    /// There are no guests.
    Refused,
    /// They read public rooms.
    Read,
    /// They read and write where the permissions let them.
    #[default]
    Write,
}

/// How a community looks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Look {
    /// The accent colour, `#rrggbb`.
    pub color: Option<String>,
    /// An `https` URL.
    pub logo_url: Option<String>,
    /// A language tag (BCP 47), such as `de` or `pt-BR`.
    pub locale: Option<String>,
}

impl Settings {
    /// With a name, and everything else as it is by default.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            origins: Vec::new(),
            limits: CommunityLimits::default(),
            history_days: None,
            guests: GuestPolicy::default(),
            people_find_each_other: false,
            people_make_rooms: false,
            look: Look::default(),
        }
    }

    /// After how many days messages are dropped, if ever: as the community wishes, and as its limits bound that.
    pub fn kept_days(&self) -> Option<u32> {
        self.history_days.into_iter().chain(self.limits.history_days).min()
    }

    /// Puts text into its normal form.
    ///
    /// # Errors
    /// Names every field that breaks a rule.
    pub fn checked(mut self) -> Result<Self, Failure> {
        let mut problems = Problems::default();
        if let Some(name) = problems.check("name", text::line(&self.name, NAME_BYTES_MAX)) {
            self.name = name;
        }
        problems.require(self.origins.len() <= ORIGINS_MAX, "origins", || {
            Problem::new("too_many", format!("has more than {ORIGINS_MAX}"))
        });
        for (place, origin) in self.origins.iter().enumerate().take(ORIGINS_MAX) {
            problems.check(&format!("origins[{place}]"), origin_is_sound(origin));
        }
        let limits = self.limits;
        problems.require(limits.messages_per_minute > 0, "limits.messages_per_minute", above_zero);
        let all = limits.community_messages_per_minute;
        problems.require(all != Some(0), "limits.community_messages_per_minute", above_zero);
        problems.require(limits.history_days != Some(0), "limits.history_days", above_zero);
        problems.require(self.history_days != Some(0), "history_days", above_zero);
        problems.require(limits.upload_bytes <= i64::MAX as u64, "limits.upload_bytes", || {
            Problem::new("range", "is too large")
        });
        self.look.check(&mut problems);
        problems.or(self)
    }
}

impl Look {
    fn check(&self, problems: &mut Problems) {
        let is_color = |text: &String| {
            text.strip_prefix('#').is_some_and(|digits| {
                digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        problems.require(self.color.as_ref().is_none_or(is_color), "look.color", || {
            Problem::new("form", "must be `#` and six hexadecimal digits")
        });
        if let Some(url) = &self.logo_url {
            problems.check("look.logo_url", https_url(url));
        }
        let is_tag = |text: &String| {
            text.len() <= 35
                && text.split('-').all(|part| {
                    (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
                })
        };
        problems.require(self.locale.as_ref().is_none_or(is_tag), "look.locale", || {
            Problem::new("form", "must be a language tag such as `de` or `pt-BR`")
        });
    }
}

fn above_zero() -> Problem {
    Problem::new("range", "must be above 0")
}

/// An `https` URL, or an error for its field.
pub(crate) fn https_url(url: &str) -> Result<(), Problem> {
    let sound = url.len() <= URL_BYTES_MAX
        && url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&byte));
    if sound { Ok(()) } else { Err(Problem::new("form", "must be a URL that begins with https://")) }
}

fn origin_is_sound(origin: &str) -> Result<(), Problem> {
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let sound = origin.len() <= URL_BYTES_MAX
        && host.is_some_and(|host| {
            !host.is_empty()
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte))
        });
    if sound { Ok(()) } else { Err(Problem::new("form", "must be like https://example.org, without a path")) }
}

/// A key of a community. Only a hash of what is secret is ever stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Key {
    /// Which.
    pub id: KeyId,
    /// Of which community.
    pub community: CommunityId,
    /// What its owner calls it.
    pub name: String,
    /// What it is for, and what it may do: `server` with scopes, or a public key for tokens. The meaning belongs to whoever
    /// checks keys; here it is bounded JSON.
    pub purpose: serde_json::Value,
    /// SHA-256 of the secret; empty for a public key.
    pub hash: Vec<u8>,
    /// When it was made.
    pub created: Moment,
    /// Since when it is no longer accepted.
    pub revoked: Option<Moment>,
}
