//! Shards with descriptor tables of their own: the limit holds for each, and sockets come and go through the kernel.

use crate::{CROWD, HOST, SOCKET};
use faults::{CROWD_TOPIC, Client, Crowd, Host, HostOptions, upgrade_request, wait_until};
use serde_json::{Value, json};

const DESCRIPTORS: u64 = 256;
const SHARDS: usize = 4;
const PROCESSES: usize = 3;
const CLIENTS_PER_PROCESS: usize = 170;
const CLIENTS: u64 = (PROCESSES * CLIENTS_PER_PROCESS) as u64;

const _: () = assert!(CLIENTS > DESCRIPTORS);

fn assert_serves(client: &mut Client) {
    client.send(&upgrade_request(SOCKET, ""));
    assert_eq!(client.answer().status, 101);
    assert_eq!(client.join("room:few")["status"], "ok");
    assert_eq!(
        client.ask("2", "room:few", "echo", &json!({ "is": "heard" }))["response"],
        json!({ "is": "heard" })
    );
}

/// What a shard has for the control plane gets there, and comes back: what a task brings, and a poll's answer.
fn assert_reaches_the_control_plane(host: &Host) {
    let mut client = Client::connect(host.address);
    client.send(&upgrade_request(SOCKET, ""));
    assert_eq!(client.answer().status, 101);
    client.join("room:task");
    client.push("2", "room:task", "panic_in_task", &json!({}));
    client.event("room:task", "phx_error");

    let mut polling = Client::connect(host.address);
    polling.send(b"GET /socket/longpoll?vsn=2.0.0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let opened: Value = serde_json::from_str(&polling.answer().body).expect("JSON");
    assert_eq!(opened["status"], 410, "a new session is announced so");
}

#[test]
fn more_sockets_than_one_table_holds_come_and_go_by_every_road() {
    let options = HostOptions {
        descriptors: Some(DESCRIPTORS),
        shards: Some(SHARDS),
        private_tables: true,
        ..HostOptions::default()
    };
    let host = Host::start(HOST, options);
    let gather = |_| Crowd::start(CROWD, host.address, SOCKET, CLIENTS_PER_PROCESS);
    let mut crowds: Vec<Crowd> = (0..PROCESSES).map(gather).collect();
    crowds.iter_mut().for_each(Crowd::wait_until_joined);
    wait_until("everybody is there", || host.numbers().joined == CLIENTS);

    // One for each shard and more: straight to it, by way of the control plane, by TLS, and by both.
    let mut clients = Vec::new();
    for number in 0..4 * SHARDS {
        let (by_tls, again) = (number % 2 == 1, number / 2 % 2 == 1);
        let mut client =
            if by_tls { host.by_tls().connect(host.tls_address) } else { Client::connect(host.address) };
        if again {
            client.send(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assert_eq!(client.answer().status, 404);
        }
        assert_serves(&mut client);
        clients.push(client);
    }
    clients[0].push("3", "room:few", "say", &json!({ "to": "all" }));
    for client in &mut clients {
        assert_eq!(client.event("room:few", "said"), json!({ "to": "all" }));
    }

    assert_reaches_the_control_plane(&host);

    let mut survivor = clients.swap_remove(1);
    survivor.join(CROWD_TOPIC);
    crowds.iter_mut().for_each(Crowd::kill);
    drop(clients);
    wait_until("one is left", || (host.numbers().connections_open, host.numbers().joined) == (1, 2));
    assert_eq!(survivor.ask("4", CROWD_TOPIC, "echo", &json!({}))["status"], "ok");
    drop(survivor);
    host.wait_until_empty();
    assert_serves(&mut Client::connect(host.address));
}
