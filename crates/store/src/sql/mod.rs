//! What both databases share: table mappings, and statements with the same text for both.
//!
//! This is not a layer that hides the database: appending, looking up facts, the search index and migrations are each
//! database's own. It must never contain rules of the messenger.

mod communities;
mod delivery;
mod entities;
mod erasures;
mod facts;
mod memberships;
mod mentions;
mod moderation;
mod place;
mod reactions;
mod removal;
mod rows;
mod scan;
mod select;
mod session;
mod values;
mod words;
mod writing;

pub(crate) use facts::{facts_columns, facts_count, read_facts};
pub(crate) use mentions::insert_mentions;
pub(crate) use rows::SqlRows;
pub(crate) use select::{Entity, Select, columns_of};
pub(crate) use session::{Columns, Param, Session, corrupt};
pub(crate) use words::{entry, scope};
