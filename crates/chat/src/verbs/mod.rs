//! All operations of the messenger, as values.
//!
//! One file per concern. A verb's documentation says who may use it and how it fails; it does not repeat that every
//! verb can fail with a storage failure ([`Failure::Unavailable`](crate::Failure::Unavailable)) or
//! [invalid](crate::Failure::Invalid) input. Lists are paged, with a `next` to continue from; whatever limit is
//! requested, a page has at most [`PAGE_MAX`](crate::limits::PAGE_MAX) rows, or
//! [`MEMBERSHIPS_MAX`](crate::limits::MEMBERSHIPS_MAX) for the memberships of many people.

mod append;
mod belonging;
mod changing;
mod communities;
mod delivering;
mod direct;
mod erasing;
mod exporting;
mod following;
mod guests;
mod importing;
mod inviting;
mod joining;
mod keys;
mod listing;
mod moderating;
mod people;
mod reading;
mod reporting;
mod retention;
mod revoking;
mod roles;
mod rooms;
mod searching;
mod seeing;

pub use append::{Append, Appended, append_batch};
pub use belonging::{MembershipsOf, MembershipsPage, Readable};
pub use changing::{Changed, Delete, EditText, React};
pub use communities::{
    ChangeCommunity, ChangeOwnSettings, Communities, CreateCommunity, FurnishCommunity, ReadCommunity,
    Resettled,
};
pub use delivering::{
    CountDeadLetters, DeadLetters, EndDelivery, GiveUp, KeepDelivery, NoteAttempt, Undelivered,
};
pub use direct::{OpenDirect, OpenGroup};
pub use erasing::{
    CommunityErasure, ConversationErasure, Erase, EraseCommunity, EraseConversation, Erased, ErasureReport,
    HalfErasedCommunities, HalfErasedConversations, HalfErasedPeople, Vanished,
};
pub use exporting::{Export, ExportPosition, Exported};
pub use following::{
    Advance, Advanced, Conversations, Cursors, Keep, ReadReceipts, Receipts, Tab, TabPosition,
};
pub use guests::{ForgetGuests, Forgotten, GoneGuests};
pub use importing::Import;
pub use inviting::{Invitations, Invite, Invited, Withdraw};
pub use joining::{Join, Joined, Leave};
pub use keys::{CreateKey, FindKey, Keys, RevokeKey};
pub use listing::Listed;
pub use moderating::{ImposeSanction, LiftSanction, Remove, Sanctions};
pub use people::{BlockPerson, Blocks, Meet, People, ReadPerson, SetReceipts, UnblockPerson};
pub use reading::{Around, EditsOf, OwnReactions, Page, ReadMessage, ReadPage};
pub use reporting::{AuditLog, ReportMessage, Reported, Reports, Settle};
pub use retention::{Expire, Expired};
pub use revoking::{Revocations, Revoke};
pub use roles::{AddMember, Brought, SetRole};
pub use rooms::{ChangeRoom, CreateRoom, FindRoom, Members, ReadConversation, Rooms};
pub use searching::SearchMessages;
pub use seeing::{LastSeen, NoteSeen};
