//! Peers that do not read what the kernel holds for them: the total that it keeps for all of them is bounded.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::line::{Client, Fixture, Options, PATIENCE, Post, Seen, config, value, wait_until};
use bytes::Bytes;
use engine::{EndCause, EngineConfig, EngineLimits, ShardIndex, SocketBuffers};
use socket2::{Domain, Socket, Type};

/// The bound on what the kernel may keep.
const BOUND: usize = 400_000;
/// One write more: what a socket's buffer holds, and the segment beyond it.
const ONE_WRITE: usize = (2 * BUFFERS.send_bytes + (64 << 10)) * 3 / 2;
const BUFFERS: SocketBuffers = SocketBuffers { send_bytes: 16 << 10, receive_bytes: 64 << 10 };
/// Together they could make the kernel keep some megabytes.
const NON_READERS: usize = 40;
/// The interval between reads of the kernel's table, which lists all sockets of the machine.
const BETWEEN: Duration = Duration::from_millis(5);
/// More messages of 1,000 bytes than the kernel keeps for one of them.
const FLOOD: u32 = 200;

fn engine(send_queues_bytes_max: usize) -> Fixture {
    let limits = EngineLimits {
        outbox_bytes_max: usize::MAX,
        send_queues_bytes_max,
        socket_buffers: Some(BUFFERS),
        ..EngineLimits::default()
    };
    Fixture::start_with(EngineConfig { limits, ..config() }, Options::default())
}

/// Connects a client whose own side keeps little.
fn client_of_small_window(address: SocketAddr) -> Client {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(&address.into()).unwrap();
    Client::new(TcpStream::from(socket))
}

fn non_readers(fixture: &Fixture) -> Vec<Client> {
    let mut clients: Vec<_> = (0..NON_READERS).map(|_| client_of_small_window(fixture.address)).collect();
    for client in &mut clients {
        client.say(&format!("flood {FLOOD}\n"));
    }
    clients
}

/// Returns the bytes that peers of this address have not acknowledged, by the kernel's own count: proc(5),
/// /proc/net/tcp.
fn unacknowledged(address: SocketAddr) -> usize {
    let port = format!(":{:04X}", address.port());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let of_line = |line: &str| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        // For a listener the field is the length of its backlog.
        let counts = words[1].ends_with(&port) && words[3] != "0A";
        counts.then(|| usize::from_str_radix(words[4].split(':').next().unwrap(), 16).unwrap())
    };
    table.lines().skip(1).filter_map(of_line).sum()
}

#[test]
fn broadcasts_reach_all_who_read_however_much_they_are_together() {
    const READERS: usize = 10;
    let fixture = engine(BOUND);
    let counters = fixture.counters();
    let mut readers: Vec<_> = (0..READERS).map(|_| client_of_small_window(fixture.address)).collect();
    wait_until(&counters.open, READERS as u64);
    for number in 0..FLOOD {
        let message = format!("{number:0>999}");
        fixture.mailboxes.post(ShardIndex(0), Post::Broadcast(Bytes::from(format!("{message}\n"))));
        for reader in &mut readers {
            assert_eq!(reader.hear(), message);
        }
    }
    wait_until(&counters.outbox_bytes, 0);
    wait_until(&counters.bytes_out, READERS as u64 * u64::from(FLOOD) * 1_000);
}

#[test]
fn what_the_kernel_keeps_for_all_who_do_not_read_stays_within_its_bound() {
    let fixture = engine(BOUND);
    let clients = non_readers(&fixture);
    what_is_kept_stays_within_its_bound_until_all_are_gone(&fixture, clients);
}

#[test]
fn what_the_kernel_keeps_of_broadcasts_stays_within_its_bound() {
    let fixture = engine(BOUND);
    let clients: Vec<_> = (0..NON_READERS).map(|_| client_of_small_window(fixture.address)).collect();
    wait_until(&fixture.counters().open, NON_READERS as u64);
    for number in 0..FLOOD {
        let message = Bytes::from(format!("{number:0>999}\n"));
        fixture.mailboxes.post(ShardIndex(0), Post::Broadcast(message));
    }
    what_is_kept_stays_within_its_bound_until_all_are_gone(&fixture, clients);
}

fn what_is_kept_stays_within_its_bound_until_all_are_gone(fixture: &Fixture, clients: Vec<Client>) {
    let counters = fixture.counters();
    let deadline = Instant::now() + PATIENCE;
    while value(&counters.unread_cut_total) == 0 {
        assert!(unacknowledged(fixture.address) <= BOUND + ONE_WRITE);
        assert!(value(&counters.send_room_bytes) <= (BOUND + ONE_WRITE) as u64);
        assert!(Instant::now() < deadline, "nobody is cut");
        std::thread::sleep(BETWEEN);
    }
    assert_eq!(fixture.wait_for_end(), EndCause::Overflow);
    drop(clients);
    wait_until(&counters.open, 0);
    assert_eq!(unacknowledged(fixture.address), 0);
}

#[test]
fn without_a_bound_the_same_peers_make_the_kernel_keep_more() {
    let fixture = engine(usize::MAX);
    let _clients = non_readers(&fixture);
    let deadline = Instant::now() + PATIENCE;
    while unacknowledged(fixture.address) <= BOUND + ONE_WRITE {
        assert!(Instant::now() < deadline, "the test above would say nothing");
        std::thread::sleep(BETWEEN);
    }
    assert_eq!(value(&fixture.counters().send_room_bytes), 0);
}

#[test]
fn who_reads_gets_everything_in_order_though_others_do_not() {
    let fixture = engine(BOUND);
    let mut reader = fixture.connect();
    reader.say("hello\n");
    assert_eq!(reader.hear(), "hello");
    let _clients = non_readers(&fixture);
    // Far more than the kernel may keep, in pieces that have to wait in the outbox.
    for _ in 0..10 {
        reader.say(&format!("flood {FLOOD}\nand this\n"));
        for message in 0..FLOOD {
            assert_eq!(reader.hear(), format!("{message:0>999}"));
        }
        assert_eq!(reader.hear(), "and this");
    }
    assert_eq!(fixture.wait_for_end(), EndCause::Overflow);
    reader.say("still here\n");
    assert_eq!(reader.hear(), "still here");
}

#[test]
fn who_goes_without_having_read_leaves_nothing_in_the_kernel() {
    for (bound, leaves_something) in [(usize::MAX, true), (100 * BOUND, false)] {
        let fixture = engine(bound);
        let mut client = client_of_small_window(fixture.address);
        client.say("flood 100\n");
        fixture.wait_for(|seen| matches!(seen, Seen::Line(_)));
        client.stream().shutdown(Shutdown::Write).unwrap();
        assert_eq!(fixture.wait_for_end(), EndCause::PeerClosed);
        assert_eq!(unacknowledged(fixture.address) > 0, leaves_something, "with a bound of {bound}");
    }
}
