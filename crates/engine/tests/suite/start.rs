//! What prevents an engine from starting, with a clear error.

use std::net::{Ipv4Addr, TcpListener};

use crate::line::{self, Fixture, LineDriver, Options, config};
use engine::{EngineConfig, EngineLimits, StartError, Tables};

fn refusal_of(config: EngineConfig) -> StartError {
    engine::prepare::<LineDriver>(config).err().expect("it must not start")
}

#[test]
fn an_address_in_use_is_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let error = refusal_of(EngineConfig::new(vec![address]));
    assert!(matches!(error, StartError::AddressInUse(in_use) if in_use == address));
    assert_eq!(error.to_string(), format!("address {address} is already in use by another server"));
}

#[test]
fn a_second_engine_does_not_share_the_port_of_the_first() {
    for tables in [Tables::Shared, Tables::Private] {
        let first = Fixture::start_with(EngineConfig { shards: 2, tables, ..config() }, Options::default());
        let error = refusal_of(EngineConfig::new(vec![first.address]));
        assert!(matches!(error, StartError::AddressInUse(_)));
    }
}

#[test]
fn of_many_engines_that_start_at_once_one_gets_the_port() {
    let address = Fixture::start().address;
    let starters: Vec<_> = (0..16)
        .map(|_| std::thread::spawn(move || engine::prepare::<LineDriver>(EngineConfig::new(vec![address]))))
        .collect();
    // All outcomes are kept until the last is known, so that the port does not become free for another in between.
    let outcomes: Vec<_> = starters.into_iter().map(|starter| starter.join().unwrap()).collect();
    let started = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(started, 1);
}

#[test]
fn an_address_can_be_used_again_at_once() {
    let first = Fixture::start();
    let address = first.address;
    let mut client = first.connect();
    client.say("close\n");
    assert_eq!(client.hear(), "");
    first.shut_down();
    let second = Fixture::start_with(EngineConfig::new(vec![address]), Options::default());
    let mut client = second.connect();
    client.say("hello\n");
    assert_eq!(client.hear(), "hello");
}

#[test]
fn an_address_of_another_machine_is_named() {
    let address = "192.0.2.1:80".parse().unwrap();
    let error = refusal_of(EngineConfig::new(vec![address]));
    assert!(matches!(error, StartError::Listen(other, _) if other == address), "{error}");
}

#[test]
fn counts_and_sizes_out_of_range_are_refused() {
    assert!(matches!(refusal_of(EngineConfig { shards: 0, ..config() }), StartError::ShardCount(0)));
    let limits = EngineLimits { read_buffer_bytes: 1024, ..EngineLimits::default() };
    assert!(matches!(refusal_of(EngineConfig { limits, ..config() }), StartError::ReadBuffer(1024)));
}

#[test]
fn each_address_has_its_own_listener() {
    let any = (Ipv4Addr::LOCALHOST, 0).into();
    let config = EngineConfig { shards: 2, ..EngineConfig::new(vec![any, any]) };
    let fixture = Fixture::start_with(config, Options::default());
    for address in fixture.engine.local_addresses().to_vec() {
        let mut client = line::Client::new(std::net::TcpStream::connect(address).unwrap());
        client.say("handoff\n");
        let handed_off = fixture.handed_off.recv_timeout(line::PATIENCE).unwrap();
        let index = usize::from(handed_off.listener.0);
        assert_eq!(fixture.engine.local_addresses()[index], address);
    }
}
