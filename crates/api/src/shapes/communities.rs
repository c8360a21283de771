//! Communities.

use super::ids;
use chat::{CommunityId, CommunityLimits, GuestPolicy, Look};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A community.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Community {
    /// Its name in URLs.
    #[schemars(with = "ids::Community")]
    id: CommunityId,
    /// When it was made.
    created: u64,
    /// When a part of it was erased last, in the operator's list alone: elsewhere it is there no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    erasing: Option<u64>,
    #[serde(flatten)]
    settings: Settings,
}

/// What was erased of a community.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommunityErasure {
    /// Messages, with former texts, reactions and mentions, and in the search index.
    messages: u64,
    /// Rooms, groups and conversations of two.
    conversations: u64,
    /// People.
    people: u64,
    /// Everything else: memberships, invitations, sanctions, blocks, reports, the audit log, revocations and keys.
    records: u64,
    /// Ids of files that messages referred to.
    attachments: Vec<String>,
    /// Whether nothing is left; otherwise send the request again. The server goes on by itself within a minute or so, too.
    done: bool,
}

impl From<chat::verbs::CommunityErasure> for CommunityErasure {
    fn from(report: chat::verbs::CommunityErasure) -> Self {
        let chat::verbs::CommunityErasure {
            messages,
            conversations,
            people,
            records,
            attachments,
            keys: _,
            done,
        } = report;
        Self { messages, conversations, people, records, attachments, done }
    }
}

/// A community that is to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCommunity {
    /// Its name in URLs.
    #[schemars(with = "ids::Community")]
    pub(crate) id: CommunityId,
    /// What its owner chooses.
    pub(crate) settings: Settings,
}

/// What a community's owner chooses.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Its name for people; up to 200 bytes.
    #[schemars(length(min = 1, max = 200), example = &"Everybody")]
    name: String,
    /// From which pages people may connect, such as `https://example.org`; none: from every one.
    #[serde(default)]
    #[schemars(length(max = 100))]
    origins: Vec<String>,
    /// How much it may use, as the operator says: without it, the defaults, or from others than the operator what there is.
    #[serde(default)]
    limits: Option<Limits>,
    /// Messages older than so many days are dropped, where the limits keep them longer; none: as long as those say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    history_days: Option<u32>,
    /// What guests may do.
    #[serde(default)]
    guests: Guests,
    /// Whether people find each other anywhere in the community; otherwise only who shares a conversation does.
    #[serde(default)]
    people_find_each_other: bool,
    /// Whether people make rooms; otherwise the community's moderators and keys do.
    #[serde(default)]
    people_make_rooms: bool,
    /// How it looks.
    #[serde(default)]
    look: Appearance,
}

impl Settings {
    /// Returns whether the limits are set.
    pub(crate) fn names_limits(&self) -> bool {
        self.limits.is_some()
    }
}

/// How much a community may use.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    /// People with a connection at once, each counted once however many they have; none: as many as the server holds.
    people_online: Option<u32>,
    /// Messages a minute from one person; each server counts for itself.
    #[schemars(range(min = 1))]
    messages_per_minute: u32,
    /// Messages a minute from all of it together: people, and programs with a key; none: as many as these may send. Each
    /// server counts for itself: several over one store let so many pass each.
    #[schemars(range(min = 1))]
    community_messages_per_minute: Option<u32>,
    /// Messages older than so many days are dropped; none: kept.
    #[schemars(range(min = 1))]
    history_days: Option<u32>,
    /// A file, in bytes.
    upload_bytes: u64,
}

/// What guests (people without an account) may do.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Guests {
    /// There are none.
    Refused,
    /// They read public rooms.
    Read,
    /// They read and write where roles let them.
    #[default]
    Write,
}

/// How a community looks.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Appearance {
    /// The accent colour.
    #[schemars(regex(pattern = "^#[0-9a-fA-F]{6}$"))]
    color: Option<String>,
    /// A URL that begins with `https://`.
    #[schemars(length(max = 2000))]
    logo_url: Option<String>,
    /// A language tag (BCP 47), such as `de` or `pt-BR`.
    #[schemars(length(max = 35))]
    locale: Option<String>,
}

/// What goes on in a community.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommunityStats {
    /// People with a connection, on all servers.
    pub(crate) people_online: u64,
    /// Connections of theirs that have joined a topic of their own, on this server.
    pub(crate) devices_online: u64,
    /// Rooms that somebody has open, on this server.
    pub(crate) rooms_open: u64,
    /// Server keys that count.
    pub(crate) keys: u64,
    /// Endpoints of webhooks.
    pub(crate) webhooks: u64,
    /// Webhooks that were given up and are kept.
    pub(crate) webhooks_dead: u64,
}

impl From<chat::Community> for Community {
    fn from(community: chat::Community) -> Self {
        let chat::Community { id, created, erasing, settings } = community;
        Self {
            id,
            created: created.millis(),
            erasing: erasing.map(chat::Moment::millis),
            settings: settings.into(),
        }
    }
}

impl From<chat::Settings> for Settings {
    fn from(settings: chat::Settings) -> Self {
        let chat::Settings {
            name,
            origins,
            limits,
            history_days,
            guests,
            people_find_each_other,
            people_make_rooms,
            look,
        } = settings;
        Self {
            name,
            origins,
            limits: Some(limits.into()),
            history_days,
            guests: guests.into(),
            people_find_each_other,
            people_make_rooms,
            look: Appearance { color: look.color, logo_url: look.logo_url, locale: look.locale },
        }
    }
}

impl From<Settings> for chat::Settings {
    fn from(settings: Settings) -> Self {
        let Settings {
            name,
            origins,
            limits,
            history_days,
            guests,
            people_find_each_other,
            people_make_rooms,
            look,
        } = settings;
        let limits = limits.unwrap_or_default();
        Self {
            name,
            origins,
            limits: CommunityLimits {
                people_online: limits.people_online,
                messages_per_minute: limits.messages_per_minute,
                community_messages_per_minute: limits.community_messages_per_minute,
                history_days: limits.history_days,
                upload_bytes: limits.upload_bytes,
            },
            history_days,
            guests: match guests {
                Guests::Refused => GuestPolicy::Refused,
                Guests::Read => GuestPolicy::Read,
                Guests::Write => GuestPolicy::Write,
            },
            people_find_each_other,
            people_make_rooms,
            look: Look { color: look.color, logo_url: look.logo_url, locale: look.locale },
        }
    }
}

impl From<CommunityLimits> for Limits {
    fn from(limits: CommunityLimits) -> Self {
        let CommunityLimits {
            people_online,
            messages_per_minute,
            community_messages_per_minute,
            history_days,
            upload_bytes,
        } = limits;
        Self { people_online, messages_per_minute, community_messages_per_minute, history_days, upload_bytes }
    }
}

impl From<GuestPolicy> for Guests {
    fn from(policy: GuestPolicy) -> Self {
        match policy {
            GuestPolicy::Refused => Self::Refused,
            GuestPolicy::Read => Self::Read,
            GuestPolicy::Write => Self::Write,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        CommunityLimits::default().into()
    }
}
