//! The JSON of requests and answers, separate from the types of the rules, so that each can change without the other.
//!
//! Points in time are milliseconds since 1970 (UTC).

mod authorizer;
mod communities;
mod conversations;
pub(crate) mod ids;
mod keys;
mod messages;
mod moderation;
mod page;
mod people;
mod webhooks;

pub(crate) use authorizer::{Authorizer, NewAuthorizer};
pub(crate) use communities::{Community, CommunityErasure, CommunityStats, NewCommunity, Settings};
pub(crate) use conversations::{
    Conversation, ConversationErasure, Describe, Invitation, Member, NewInvitation, NewRoom, Receipts, Tab,
};
pub(crate) use keys::{Key, NewKey, NewKeyKind, Scope};
pub(crate) use messages::{Draft, Edit, EditedText, History, Message};
pub(crate) use moderation::{Audit, Report, Sanction, SanctionKind};
pub(crate) use page::{List, Page};
pub(crate) use people::{Block, Erasure, Person, Profile, Role};
pub(crate) use webhooks::{DeadLetter, NewWebhook, Webhook, WebhookEvent};
