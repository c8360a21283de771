//! `gauge`: the cost of a connection and of a message in countable units, reported as JSON on standard output.
//!
//! Owns the measurements behind the repeatable budgets of `bench/budgets.toml`, and drives the hub and the gateway only
//! through their public interfaces. It must never read a clock or judge a figure: `bench/check` compares.

mod allocations;
mod bytes;
mod client;
mod heap;
mod instructions;
mod room;
mod server;
mod shard;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Counts what a connection and a message cost, and reports it as JSON.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    group: Group,
}

#[derive(Subcommand)]
enum Group {
    /// Bytes and blocks of the heap for each connection, join and topic.
    Bytes {
        /// Give each channel 64 bytes of its own: the figures must show them.
        #[arg(long)]
        plant: bool,
    },
    /// Allocations for each message and delivery.
    Allocations,
    /// Do the work whose instructions callgrind counts, and list it in order.
    Instructions,
}

fn main() -> ExitCode {
    let report = match Cli::parse().group {
        Group::Bytes { plant } => bytes::measure(plant).map(|figures| serde_json::json!(figures)),
        Group::Allocations => allocations::measure().map(|figures| serde_json::json!(figures)),
        Group::Instructions => Ok(serde_json::json!(instructions::work())),
    };
    match report {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("gauge: {error}");
            ExitCode::FAILURE
        }
    }
}
