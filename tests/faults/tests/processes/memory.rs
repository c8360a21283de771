//! Peers that want to fill the memory.

use crate::{ECHO, HOST, SOCKET};
use faults::{Client, Host, HostOptions, compressed_zeros, frame_header, masked, upgrade_request};

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
