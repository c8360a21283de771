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
    /// When it was created.
    created: u64,
    /// When its erasure last made progress. Only present in the operator's list: everywhere else the community no
    /// longer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    erasing: Option<u64>,
    #[serde(flatten)]
    settings: Settings,
}

/// What was erased from a community.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommunityErasure {
    /// Messages, with their earlier texts, reactions, mentions and search index entries.
    messages: u64,
    /// Rooms, groups and direct conversations.
    conversations: u64,
    /// People.
    people: u64,
    /// All other records: memberships, invitations, sanctions, blocks, reports, the audit log, revocations and keys.
    records: u64,
    /// Ids of the files that messages referred to.
    attachments: Vec<String>,
    /// Whether nothing is left. If `false`, repeat the request; the server also continues by itself within about a
    /// minute.
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

/// A new community.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCommunity {
    /// Its name in URLs.
    #[schemars(with = "ids::Community")]
    pub(crate) id: CommunityId,
    /// Its settings.
    pub(crate) settings: Settings,
}

/// The settings of a community.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Its display name; up to 200 bytes.
    #[schemars(length(min = 1, max = 200), example = &"Everybody")]
    name: String,
    /// The origins of pages from which people may connect, such as `https://example.org`; empty: any.
    #[serde(default)]
    #[schemars(length(max = 100))]
    origins: Vec<String>,
    /// Its limits, which only the operator can change. If absent: the operator sets the defaults; for anyone else the
    /// limits stay as they are.
    #[serde(default)]
    limits: Option<Limits>,
    /// Messages older than this many days are deleted, if that is shorter than `limits.history_days`; absent: only
    /// the limit applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    history_days: Option<u32>,
    /// What guests may do.
    #[serde(default)]
    guests: Guests,
    /// Whether people can find everyone in the community. If `false`, only people with whom they share a
    /// conversation.
    #[serde(default)]
    people_find_each_other: bool,
    /// Whether people may create rooms. If `false`, only the community's moderators and keys may.
    #[serde(default)]
    people_make_rooms: bool,
    /// Its appearance.
    #[serde(default)]
    look: Appearance,
}

impl Settings {
    /// Returns whether the limits are set.
    pub(crate) fn names_limits(&self) -> bool {
        self.limits.is_some()
    }
}

/// The limits of a community.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    /// People connected at the same time, each counted once however many connections they have; absent: no limit but
    /// the server's.
    people_online: Option<u32>,
    /// Messages per minute from one person. Each server counts separately.
    #[schemars(range(min = 1))]
    messages_per_minute: u32,
    /// Messages per minute from the whole community, people and programs with a key together; absent: no limit. Each
    /// server counts separately, so several servers on one store each allow this many.
    #[schemars(range(min = 1))]
    community_messages_per_minute: Option<u32>,
    /// Messages older than this many days are deleted; absent: they are kept.
    #[schemars(range(min = 1))]
    history_days: Option<u32>,
    /// The largest file that may be uploaded, in bytes. Messages only refer to files, so nothing enforces it yet.
    upload_bytes: u64,
}

/// What guests (people without an account) may do.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Guests {
    /// Guests are not admitted.
    Refused,
    /// Guests can read public rooms.
    Read,
    /// Guests can read and write where their role permits.
    #[default]
    Write,
}

/// The appearance of a community.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Appearance {
    /// The accent colour.
    #[schemars(regex(pattern = "^#[0-9a-fA-F]{6}$"))]
    color: Option<String>,
    /// The URL of a logo; begins with `https://`.
    #[schemars(length(max = 2000))]
    logo_url: Option<String>,
    /// The language as a tag (BCP 47), such as `de` or `pt-BR`.
    #[schemars(length(max = 35))]
    locale: Option<String>,
}

/// Statistics of a community.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommunityStats {
    /// People who are connected, on all servers.
    pub(crate) people_online: u64,
    /// Their connections to this server that have joined their personal topic.
    pub(crate) devices_online: u64,
    /// Rooms that at least one client has open, on this server.
    pub(crate) rooms_open: u64,
    /// Valid server keys.
    pub(crate) keys: u64,
    /// Webhook endpoints.
    pub(crate) webhooks: u64,
    /// Dead letters that are kept.
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
