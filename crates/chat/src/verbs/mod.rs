//! Everything that can be asked of a store, as values.
//!
//! One file per concern. A verb's documentation says who may ask it and what goes wrong; that a store is in trouble
//! ([`Failure::Unavailable`](crate::Failure::Unavailable)) and that input is [invalid](crate::Failure::Invalid) is not
//! repeated. Lists come as pages with a `next` to go on with; a page has at most
//! [`PAGE_MAX`](crate::limits::PAGE_MAX) rows, whatever was asked, and one of what many people are in
//! [`MEMBERSHIPS_MAX`](crate::limits::MEMBERSHIPS_MAX).

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
    ChangeCommunity, ChangeOwnSettings, Communities, CreateCommunity, ReadCommunity, Resettled,
};
pub use delivering::{
    CountDeadLetters, DeadLetters, EndDelivery, GiveUp, KeepDelivery, NoteAttempt, Undelivered,
};
pub use direct::{OpenDirect, OpenGroup};
pub use erasing::{CommunityErasure, Erase, EraseCommunity, ErasureReport, HalfErased, Vanished};
pub use exporting::{Export, ExportPosition, Exported, Import};
pub use following::{
    Advance, Advanced, Conversations, Cursors, Keep, ReadReceipts, Receipts, Tab, TabPosition,
};
pub use guests::{ForgetGuests, Forgotten, GoneGuests};
pub use inviting::{Invitations, Invite, Invited, Withdraw};
pub use joining::{Join, Joined, Leave};
pub use keys::{CreateKey, FindKey, Keys, RevokeKey};
pub use listing::Listed;
pub use moderating::{Lift, Punish, Remove, Sanctions};
pub use people::{BlockPerson, Blocks, Meet, People, ReadPerson, SetReceipts, UnblockPerson};
pub use reading::{Around, EditsOf, OwnReactions, Page, ReadMessage, ReadPage};
pub use reporting::{AuditLog, ReportMessage, Reported, Reports, Settle};
pub use retention::{Expire, Expired};
pub use revoking::{Revocations, Revoke};
pub use roles::{BringIn, Brought, SetRole};
pub use rooms::{ChangeRoom, CreateRoom, FindRoom, Members, ReadConversation, Rooms};
pub use searching::SearchMessages;
pub use seeing::{LastSeen, NoteSeen};
