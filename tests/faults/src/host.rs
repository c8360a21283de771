//! A gateway in a process of its own, for faults that concern the whole process: its descriptors, memory and CPU.
//!
//! The program reads commands, one a line, and answers each with a line of JSON. It ends with its standard input.

use crate::client::Connecting;
use crate::fixture::wait_until;
use crate::tls::Trust;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a host is told when it starts.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostOptions {
    /// Its soft limit of descriptors; the hard one if absent.
    pub descriptors: Option<u64>,
    /// How many shards; one for each core if absent.
    pub shards: Option<usize>,
    /// Whether each shard has a descriptor table of its own.
    pub private_tables: bool,
    /// Whether it has one processor, whatever the machine has.
    pub one_processor: bool,
    /// Its memory budget, in bytes. The kernel then gives it no more data than that either.
    pub memory_budget: Option<u64>,
}

/// The running program.
pub struct Host {
    process: Child,
    /// Where it listens without TLS.
    pub address: SocketAddr,
    /// Where it listens for TLS.
    pub tls_address: SocketAddr,
    trust: Trust,
    answers: Mutex<BufReader<ChildStdout>>,
}

/// A host at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers {
    /// Open sockets on shards.
    pub connections_open: u64,
    /// Joins that stand.
    pub joined: u64,
    /// Topics with members.
    pub topics: u64,
    /// CPU time of the process so far.
    pub cpu: Duration,
    /// The most memory that it ever had, in KiB.
    pub rss_kib_max: u64,
}

impl Host {
    /// Starts the program and waits until it listens.
    #[must_use]
    pub fn start(program: &str, options: HostOptions) -> Host {
        let HostOptions { descriptors, shards, private_tables, one_processor, memory_budget } = options;
        let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        let tables = if private_tables { "private" } else { "shared" };
        let processors = if one_processor { "one" } else { "all" };
        let (shards, budget) = (number(shards.map(|shards| shards as u64)), number(memory_budget));
        let arguments = [number(descriptors), shards, tables.to_owned(), processors.to_owned(), budget];
        let command =
            Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = command.expect("a program of this package");
        let mut answers = BufReader::new(process.stdout.take().expect("it is piped"));
        let started = read_json(&mut answers);
        let address =
            |name: &str| started[name].as_str().and_then(|text| text.parse().ok()).expect("an address");
        let certificate = serde_json::from_value(started["certificate"].clone()).expect("bytes");
        Host {
            process,
            address: address("plain"),
            tls_address: address("tls"),
            trust: Trust::certificate(certificate),
            answers: Mutex::new(answers),
        }
    }

    /// How a client connects to it by TLS.
    #[must_use]
    pub fn by_tls(&self) -> Connecting<'_> {
        Connecting { tls: Some(&self.trust), ..Connecting::default() }
    }

    /// Its numbers now.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let numbers = self.command("numbers");
        let number = |name: &str| numbers[name].as_u64().expect("a number");
        Numbers {
            connections_open: number("connections_open"),
            joined: number("joined"),
            topics: number("topics"),
            cpu: Duration::from_micros(number("cpu_us")),
            rss_kib_max: number("rss_kib_max"),
        }
    }

    /// Has it open files until it has no descriptor left.
    pub fn use_all_descriptors(&self) {
        self.command("hog");
    }

    /// Has it close those files.
    pub fn free_descriptors(&self) {
        self.command("free");
    }

    /// Waits until nobody is connected and nothing of anybody is left.
    pub fn wait_until_empty(&self) {
        wait_until("nothing is left", || {
            let now = self.numbers();
            (now.connections_open, now.joined, now.topics) == (0, 0, 0)
        });
    }

    fn command(&self, command: &str) -> Value {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut input = self.process.stdin.as_ref().expect("it is piped");
        writeln!(input, "{command}").expect("the host runs");
        read_json(&mut *answers)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Dead already where it failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read_json(answers: &mut impl BufRead) -> Value {
    let mut line = String::new();
    answers.read_line(&mut line).expect("text");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("the host said {line:?}: {error}"))
}
