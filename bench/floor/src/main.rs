//! `floor`: raw TCP pairs that exchange canned bytes. Its cost is the kernel's part of every figure; what a server
//! costs beyond it is the server's own.

mod accept;
mod bars;
mod cli;
mod exchange;
mod kernel_memory;
mod run;
mod server;
mod unmask;

use std::io;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> io::Result<()> {
    match Cli::parse().command {
        Command::Serve(arguments) => server::serve(&arguments),
        Command::Run(arguments) => run::run(&arguments),
    }
}
