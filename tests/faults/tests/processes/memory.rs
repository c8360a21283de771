//! Peers that want to fill the memory.

use crate::{ECHO, HOST, SOCKET};
use faults::{
    Client, Connecting, FLOOD_MESSAGE_BYTES, Host, HostOptions, compressed_zeros, frame_header, masked,
    upgrade_request,
};
use serde_json::json;

/// What the process may grow by, in KiB.
const GROWTH_KIB_MAX: u64 = 40 << 10;

#[test]
fn compressed_bombs_do_not_fill_the_memory() {
    const INFLATED_MEBIBYTES: usize = 100;
    let host = Host::start(HOST, HostOptions::default());
    let bomb = masked(0xc2, &compressed_zeros(INFLATED_MEBIBYTES));
    let before = host.numbers().rss_kib_max;
    let open = |_| {
        let mut client = Client::connect(host.address);
        client.send(&upgrade_request(ECHO, "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
        assert_eq!(client.answer().status, 101);
        client
    };
    let mut clients: Vec<Client> = (0..10).map(open).collect();
    for client in &mut clients {
        client.send(&bomb);
    }
    for client in &mut clients {
        assert_eq!(client.close_code(), Some(1009));
    }
    let growth = host.numbers().rss_kib_max - before;
    assert!(growth < GROWTH_KIB_MAX, "{growth} KiB");
}

#[test]
fn a_length_that_is_only_announced_takes_no_memory() {
    let host = Host::start(HOST, HostOptions::default());
    let mut clients: Vec<Client> = (0..100).map(|_| Client::open(host.address, ECHO)).collect();
    let before = host.numbers().rss_kib_max;
    for client in &mut clients {
        client.send(&frame_header(0x82, 1 << 20));
        client.send(&[0; 100]);
    }
    let mut last = Client::open(host.address, SOCKET);
    last.heartbeat();
    let growth = host.numbers().rss_kib_max - before;
    assert!(growth < GROWTH_KIB_MAX, "{growth} KiB");
}

/// Each of the two crowds would take more than the budget, which is also all the data that the kernel gives the
/// process: one allocation beyond it would be its end.
#[test]
fn under_a_budget_the_process_outlives_those_who_want_to_fill_its_memory() {
    const BUDGET: u64 = 64 << 20;
    const PEERS: usize = 120;
    const LARGE: usize = 900 << 10;
    let host = Host::start(HOST, HostOptions { memory_budget: Some(BUDGET), ..HostOptions::default() });
    let mut modest = Client::open(host.address, SOCKET);

    let mut talkers: Vec<Client> = (0..PEERS).map(|_| Client::open(host.address, ECHO)).collect();
    let slow = Connecting { receive_buffer_bytes: Some(4096), ..Connecting::default() };
    let mut readers: Vec<Client> = (0..PEERS).map(|_| slow.open(host.address, SOCKET)).collect();
    for reader in &mut readers {
        assert_eq!(reader.join("room:flood")["status"], "ok");
    }
    let mut unfinished = frame_header(0x82, 1 << 20);
    unfinished.resize(LARGE, 0);
    for talker in &mut talkers {
        // It may be closed before it has said all.
        let _ = talker.try_send(&unfinished);
    }
    for reader in &mut readers {
        reader.push("2", "room:flood", "flood", &json!({ "messages": LARGE * 3 / FLOOD_MESSAGE_BYTES }));
    }
    modest.heartbeat();
    let most = host.numbers().rss_kib_max << 10;
    assert!(most < BUDGET, "{most} bytes");
}
