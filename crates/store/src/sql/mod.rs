//! What both databases have in common: tables, and statements that are the same text for both.
//!
//! It is no layer that hides a database: appending, looking up facts, the search index and migrations are each database's
//! own. It must never hold a rule of the messenger.

mod delivery;
mod entities;
mod facts;
mod moderation;
mod reactions;
mod rows;
mod scan;
mod select;
mod session;
mod values;
mod words;

pub(crate) use facts::{facts_columns, read_facts};
pub(crate) use rows::{SqlRows, insert_mentions};
pub(crate) use select::{Entity, Select, columns_of};
pub(crate) use session::{Columns, Param, Session, corrupt};
pub(crate) use words::{entry, scope};
