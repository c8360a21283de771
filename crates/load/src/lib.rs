//! Stampede, the load lab: it simulates millions of clients against any WebSocket or HTTP server and reports exactly
//! what it measured. Nothing in this crate may ever make a server look better than it is.
//!
//! The command line ([`cli`]), a preset ([`presets`]) or an imported Tsung file ([`tsung`]) becomes a [`scenario`]; the
//! [`player`] executes it. Everything its users see is a stream of observations ([`observe`]), which [`record`] stores,
//! [`statistics`] aggregates, [`live`] displays during the run and [`report`] presents afterwards. [`run`] ties these
//! stages together.

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
