//! More sockets than one descriptor table may hold, by shards with private tables. The limit is lowered for the whole
//! process, so this binary has one test; the clients are processes, each with a limit of its own.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod line;
mod watching;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};

use engine::{EngineConfig, EngineLimits, ShardIndex, Tables};
use line::{Client, Fixture, Options, PATIENCE, config, value};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const DESCRIPTORS: u64 = 256;
const SHARDS: usize = 4;
const PROCESSES: usize = 3;
const CLIENTS_PER_PROCESS: usize = 200;

const _: () = assert!((PROCESSES * CLIENTS_PER_PROCESS) as u64 > 2 * DESCRIPTORS);

#[test]
fn the_descriptor_limit_holds_per_shard() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS), maximum }).unwrap();
    let limits = EngineLimits { descriptors_reserve: 16, ..EngineLimits::default() };
    let config = EngineConfig { shards: SHARDS, tables: Tables::Private, limits, ..config() };
    let fixture = Fixture::start_with(config, Options::default());

    let control = TcpListener::bind("127.0.0.1:0").unwrap();
    let descriptors_before = open_descriptors();
    let mut processes: Vec<Child> = (0..PROCESSES).map(|_| spawn_clients(&fixture, &control)).collect();
    let mut controls: Vec<TcpStream> = (0..PROCESSES).map(|_| control.accept().unwrap().0).collect();
    for control in &mut controls {
        control.set_read_timeout(Some(PATIENCE)).unwrap();
        control.read_exact(&mut [0]).expect("all clients of the process are served");
    }

    let counters = (0..SHARDS).map(|shard| fixture.engine.counters(ShardIndex(shard as u16)));
    let open: u64 = counters.map(|counters| value(&counters.open)).sum();
    assert_eq!(open as usize, PROCESSES * CLIENTS_PER_PROCESS);
    assert_eq!(open_descriptors() - PROCESSES, descriptors_before, "the main table holds none of them");

    drop(controls);
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    fixture.shut_down();
}

/// Counts the descriptors of the process's own table. The listing itself takes one.
fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Runs [`clients`] in a process of its own.
fn spawn_clients(fixture: &Fixture, control: &TcpListener) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "clients"])
        .env("ENGINE_TEST_SERVER", fixture.address.to_string())
        .env("ENGINE_TEST_CONTROL", control.local_addr().unwrap().to_string())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "a part of the other test, which runs it in processes of its own"]
fn clients() {
    let (Ok(server), Ok(control)) =
        (std::env::var("ENGINE_TEST_SERVER"), std::env::var("ENGINE_TEST_CONTROL"))
    else {
        return;
    };
    let mut control = TcpStream::connect(control).unwrap();
    let connect = |_| Client::new(TcpStream::connect(&server).unwrap());
    let mut clients: Vec<Client> = (0..CLIENTS_PER_PROCESS).map(connect).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.say(&format!("{number}\n"));
        assert_eq!(client.hear(), number.to_string());
    }
    control.write_all(b"!").unwrap();
    // The other side closes when it has counted.
    let _ = control.read(&mut [0]);
}
