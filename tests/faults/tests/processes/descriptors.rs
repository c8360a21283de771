//! No descriptor is left.

use crate::{ECHO, HOST};
use faults::{Client, Host, HostOptions, upgrade_request, wait_until};
use std::time::Duration;

/// How long it is looked that nothing happens.
const WATCHED: Duration = Duration::from_secs(1);
/// What a process may spend meanwhile on trying again; one that spins spends all that it gets.
const CPU_MAX: Duration = Duration::from_millis(150);

fn assert_echoes(client: &mut Client, text: &str) {
    client.text(text);
    assert_eq!(client.message(), text);
}

fn ask(host: &Host) -> Client {
    let mut waiting = Client::connect(host.address);
    waiting.send(&upgrade_request(ECHO, ""));
    waiting
}

/// Asserts that a client gets no answer, and that the host does not spin meanwhile.
fn assert_waits_at_rest(host: &Host, waiting: &mut Client) {
    let before = host.numbers().cpu;
    assert!(waiting.hears_nothing(WATCHED), "there is no descriptor to answer with");
    let spent = host.numbers().cpu - before;
    assert!(spent < CPU_MAX, "it spins: {spent:?}");
}

#[test]
fn accepting_resumes_by_itself_when_descriptors_are_free_again() {
    let host =
        Host::start(HOST, HostOptions { descriptors: Some(128), shards: Some(1), ..HostOptions::default() });
    let mut served = Client::open(host.address, ECHO);
    host.use_all_descriptors();
    let mut waiting = ask(&host);
    assert_waits_at_rest(&host, &mut waiting);
    assert_echoes(&mut served, "still served");

    // One descriptor becomes free in the shard itself. Only a plain connection waits for it: the thread that accepts TLS
    // might take it before the shard does.
    drop(served);
    assert_eq!(waiting.answer().status, 101);
    assert_echoes(&mut waiting, "served at last");

    // Nobody tells the shard, or the thread that accepts TLS, of these.
    let mut waiting = ask(&host);
    let mut waiting_by_tls = host.by_tls().connect(host.tls_address);
    assert_waits_at_rest(&host, &mut waiting);
    host.free_descriptors();
    waiting_by_tls.send(&upgrade_request(ECHO, ""));
    assert_eq!(waiting_by_tls.answer().status, 101);
    assert_echoes(&mut waiting_by_tls, "served by TLS");
    assert_eq!(waiting.answer().status, 101);
    assert_echoes(&mut waiting, "served too");
}

#[test]
fn connections_beyond_the_reserve_are_answered_503_until_one_ends() {
    const DESCRIPTORS: u64 = 100;
    let options = HostOptions { descriptors: Some(DESCRIPTORS), shards: Some(1), ..HostOptions::default() };
    let host = Host::start(HOST, options);
    let mut served = Vec::new();
    loop {
        let mut client = ask(&host);
        let status = client.answer().status;
        if status == 503 {
            break;
        }
        assert_eq!(status, 101);
        served.push(client);
        assert!((served.len() as u64) < DESCRIPTORS, "some are in reserve");
    }
    let full = served.len() as u64;
    served.truncate(1);
    wait_until("places are free", || host.numbers().connections_open < full);
    let mut newcomer = Client::open(host.address, ECHO);
    assert_echoes(&mut newcomer, "let in");
    assert_echoes(&mut served[0], "never disturbed");
}
