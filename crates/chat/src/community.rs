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
    /// Its id, as used in URLs.
    pub id: CommunityId,
    /// When it was created.
    pub created: Moment,
    /// When a step of its erasure last ran, if it is being erased. From then on nobody can access it, and its name
    /// stays taken until nothing is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasing: Option<Moment>,
    /// The settings that its owner chooses.
    #[serde(flatten)]
    pub settings: Settings,
}

/// Settings chosen by the community's owner, except the limits, which the operator sets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The display name.
    pub name: String,
    /// Origins of the pages that may connect: `https://example.org`, without a path, matched exactly. Empty: every
    /// origin that the server admits.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Resource limits.
    #[serde(default)]
    pub limits: CommunityLimits,
    /// Messages older than this many days are dropped, unless the limits drop them earlier; `None`: only the limits
    /// apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_days: Option<u32>,
    /// What guests may do.
    #[serde(default)]
    pub guests: GuestPolicy,
    /// Whether people can find everybody in the community; otherwise only those with whom they share a conversation.
    #[serde(default)]
    pub people_find_each_other: bool,
    /// Whether people may create rooms; otherwise only the community's moderators and keys may.
    #[serde(default)]
    pub people_make_rooms: bool,
    /// Branding.
    #[serde(default)]
    pub look: Look,
}

/// Resource limits of a community. The first three are enforced where connections are held, the fourth by retention.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommunityLimits {
    /// Concurrently connected people, each counted once across all connections and servers; `None`: as many as the
    /// servers hold.
    pub people_online: Option<u32>,
    /// Messages per minute from one person, on each server.
    pub messages_per_minute: u32,
    /// Messages per minute from the whole community, on each server; `None`: no further limit than that per person.
    pub community_messages_per_minute: Option<u32>,
    /// Messages older than this many days are dropped; `None`: kept.
    pub history_days: Option<u32>,
    /// Maximum size of an uploaded file, in bytes. For whoever receives uploads: messages only refer to files, and nothing
    /// here enforces it.
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
    /// Guests may read public rooms.
    Read,
    /// Guests may read and write where the permissions allow it.
    #[default]
    Write,
}

/// A community's branding.
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
    /// Default settings with this name.
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

    /// Retention in days, if any: the shorter of the community's own setting and its limit.
    pub fn kept_days(&self) -> Option<u32> {
        self.history_days.into_iter().chain(self.limits.history_days).min()
    }

    /// Validates and normalizes all text.
    ///
    /// # Errors
    /// Lists every field that breaks a rule.
    pub fn checked(mut self) -> Result<Self, Failure> {
        let mut problems = Problems::default();
        if let Some(name) = problems.check("name", text::line(&self.name, NAME_BYTES_MAX)) {
            self.name = name;
        }
        problems.require(self.origins.len() <= ORIGINS_MAX, "origins", || {
            Problem::new("too_many", format!("has more than {ORIGINS_MAX} entries"))
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
            Problem::new("form", "must be `#` followed by six hexadecimal digits")
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

/// Checks that `url` is an `https` URL.
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
    if sound {
        Ok(())
    } else {
        Err(Problem::new(
            "form",
            "must be an origin such as https://example.org, without a \
         path",
        ))
    }
}

/// A community's key. Only a hash of its secret is ever stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// The community that it belongs to.
    pub community: CommunityId,
    /// The name that its owner gave it.
    pub name: String,
    /// Its purpose and permissions: `server` with scopes, or a public key for tokens. Interpreted by whoever checks
    /// keys; stored here as bounded JSON.
    pub purpose: serde_json::Value,
    /// SHA-256 of the secret; empty for a public key.
    pub hash: Vec<u8>,
    /// When it was created.
    pub created: Moment,
    /// When it was revoked, if it was.
    pub revoked: Option<Moment>,
}
