//! The rules over the store in memory.

mod changes;
mod cursors;
mod erasing;
mod permissions;
mod trouble;
