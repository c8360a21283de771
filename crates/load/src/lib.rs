//! Stampede, the load lab: it plays millions of clients against any WebSocket or HTTP server, and says honestly what it
//! saw. This crate must never be able to make a server look better than it is.
//!
//! What is asked for ([`cli`], [`presets`], [`tsung`]) becomes a [`scenario`]; the [`player`] plays it; all that its users
//! see is a stream of observations ([`observe`]), which [`record`] keeps, [`statistics`] counts, [`live`] shows while it
//! goes on and [`report`] explains afterwards. [`run`] is the order of these things.

pub mod agent;
pub mod chat;
pub mod cli;
pub mod commands;
pub mod crowd;
pub mod doctor;
pub mod draw;
pub mod floor;
pub mod ledger;
pub mod live;
pub mod monitor;
pub mod observe;
pub mod player;
pub mod presets;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
pub mod schedule;
pub mod search;
pub mod statistics;
pub mod tsung;
