//! Stampede, the load generator: it plays millions of clients against any WebSocket or HTTP server and reports honestly
//! what it measured. This crate must never make a server look better than it is.
//!
//! The input ([`cli`], [`presets`], [`tsung`]) becomes a [`scenario`]; the [`player`] plays it; everything its users
//! see is a stream of observations ([`observe`]), which [`record`] stores, [`statistics`] counts, [`live`] shows during
//! the run and [`report`] explains afterwards. [`run`] puts these stages in order.

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
mod upgrade;
