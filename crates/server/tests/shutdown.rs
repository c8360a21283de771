//! The end of a server: everybody is told, and the process goes.

mod client;
mod throng;

use client::{Client, Said};
use nix::sys::signal::Signal;
use throng::Throng;

const CLIENTS: usize = 300;
const SERVICE_RESTART: u16 = 1012;

/// Clients of which every second one has joined the lobby.
fn clients(server: &Throng, count: usize) -> Vec<Client> {
    let open = |index| {
        let mut client = Client::open(server.address, "/socket/websocket?vsn=2.0.0");
        if index % 2 == 0 {
            client.join("rooms:lobby", "{}");
        }
        client
    };
    (0..count).map(open).collect()
}

#[test]
fn sigterm_closes_every_connection_with_1012_and_the_exit_code_is_0() {
    for (signal, tables) in [(Signal::SIGTERM, "shared"), (Signal::SIGINT, "private")] {
        let tables = format!("descriptor_tables={tables}");
        let mut server = Throng::start(&["--set", "shutdown.spread=1s", "--set", &tables]);
        let mut clients = clients(&server, CLIENTS);
        server.signal(signal);
        for client in &mut clients {
            assert_eq!(client.hear(), Said::Close(SERVICE_RESTART));
        }
        drop(clients);
        assert_eq!(server.exit_status().code(), Some(0));
    }
}

#[test]
fn a_server_that_ends_is_not_ready_and_a_second_signal_ends_it_at_once() {
    let mut server = Throng::start(&["--set", "shutdown.spread=1h"]);
    let _clients = clients(&server, 10);
    assert_eq!(server.get(server.admin, "/readyz").status, 200);
    server.signal(Signal::SIGTERM);
    server.logged("closing 10 connections");
    let probe = server.get(server.admin, "/readyz");
    assert_eq!((probe.status, probe.body.as_str()), (503, "not ready\n"));
    assert_eq!(server.get(server.admin, "/healthz").status, 200);

    server.signal(Signal::SIGTERM);
    assert_eq!(server.exit_status().code(), Some(1));
}

#[test]
fn a_server_without_connections_ends_without_waiting() {
    let mut server = Throng::start(&["--set", "shutdown.spread=1h"]);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.exit_status().code(), Some(0));
}
