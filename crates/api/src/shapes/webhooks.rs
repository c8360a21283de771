//! Webhooks.

use super::ids;
use crate::purpose::Purpose;
use crate::webhooks::told_id;
use chat::{Delivery, KeyId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An event that is sent to webhook endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum WebhookEvent {
    /// A message was sent.
    #[serde(rename = "message.sent")]
    MessageSent,
    /// A message was edited, or its reactions changed.
    #[serde(rename = "message.changed")]
    MessageChanged,
    /// A message was deleted.
    #[serde(rename = "message.deleted")]
    MessageDeleted,
    /// A message was reported.
    #[serde(rename = "message.reported")]
    MessageReported,
    /// A room was created or changed.
    #[serde(rename = "room.changed")]
    RoomChanged,
    /// A room or a group was erased.
    #[serde(rename = "room.erased")]
    RoomErased,
    /// A person joined a conversation.
    #[serde(rename = "member.joined")]
    MemberJoined,
    /// The role of a member changed.
    #[serde(rename = "member.role")]
    MemberRole,
    /// A person left a conversation or was removed.
    #[serde(rename = "member.left")]
    MemberLeft,
    /// A ban or mute was imposed or lifted.
    #[serde(rename = "sanction.changed")]
    SanctionChanged,
    /// A person was erased.
    #[serde(rename = "person.erased")]
    PersonErased,
}

impl WebhookEvent {
    /// All of them.
    pub(crate) const ALL: [Self; 11] = [
        Self::MessageSent,
        Self::MessageChanged,
        Self::MessageDeleted,
        Self::MessageReported,
        Self::RoomChanged,
        Self::RoomErased,
        Self::MemberJoined,
        Self::MemberRole,
        Self::MemberLeft,
        Self::SanctionChanged,
        Self::PersonErased,
    ];
}

/// A new endpoint.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhook {
    /// A name for it; up to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) name: String,
    /// The URL that receives events; begins with `https://`.
    #[schemars(length(max = 2048), example = &"https://example.org/throng")]
    pub(crate) url: String,
    /// The events that it receives; empty: all.
    #[serde(default)]
    #[schemars(length(max = 11))]
    pub(crate) events: Vec<WebhookEvent>,
}

/// A webhook endpoint.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Webhook {
    /// Its id.
    #[schemars(with = "ids::Made")]
    id: KeyId,
    /// Its name.
    name: String,
    /// The URL that receives events.
    url: String,
    /// The events that it receives.
    events: Vec<WebhookEvent>,
    /// When it was created.
    created: u64,
    /// The secret that signs requests (Standard Webhooks). Only present in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl Webhook {
    /// Converts the key that stores it; `None` if the key is of another kind, or revoked.
    pub(crate) fn of(key: chat::Key, with_secret: bool) -> Option<Self> {
        match Purpose::of(&key)? {
            Purpose::Webhook { url, events, secret } if key.revoked.is_none() => Some(Self {
                id: key.id,
                name: key.name,
                url,
                events,
                created: key.created.millis(),
                secret: with_secret.then_some(secret),
            }),
            Purpose::Webhook { .. }
            | Purpose::Server { .. }
            | Purpose::Token(_)
            | Purpose::Jwks(_)
            | Purpose::Authorizer(_) => None,
        }
    }
}

/// A webhook whose delivery was given up.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeadLetter {
    /// Its id: the header `webhook-id` of each attempt.
    id: String,
    /// The body that could not be delivered.
    body: serde_json::Value,
    /// When it was queued.
    queued: u64,
    /// The number of failed attempts.
    attempts: u32,
    /// Why it was given up.
    why: String,
    /// When it was given up.
    at: u64,
}

impl DeadLetter {
    /// Converts a delivery; `None` if it is still pending.
    pub(crate) fn of(delivery: Delivery) -> Option<Self> {
        let given_up = delivery.given_up?;
        Some(Self {
            id: told_id(delivery.id),
            body: serde_json::from_str(&delivery.body).unwrap_or_default(),
            queued: delivery.queued.millis(),
            attempts: delivery.attempts,
            why: given_up.why,
            at: given_up.at.millis(),
        })
    }
}
