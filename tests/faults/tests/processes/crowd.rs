//! Everybody goes away in the same moment.

use crate::{CROWD, HOST, SOCKET};
use faults::{CROWD_TOPIC, Client, Crowd, Host, HostOptions, wait_until};
use serde_json::json;

const PROCESSES: usize = 4;
const CLIENTS_PER_PROCESS: usize = 2500;
const CLIENTS: u64 = (PROCESSES * CLIENTS_PER_PROCESS) as u64;

#[test]
fn ten_thousand_clients_cut_at_once_leave_nothing_behind() {
    let host = Host::start(HOST, HostOptions::default());
    let gather = |_| Crowd::start(CROWD, host.address, SOCKET, CLIENTS_PER_PROCESS);
    let mut crowds: Vec<Crowd> = (0..PROCESSES).map(gather).collect();
    crowds.iter_mut().for_each(Crowd::wait_until_joined);
    let mut survivor = Client::open(host.address, SOCKET);
    survivor.join(CROWD_TOPIC);
    wait_until("everybody is there", || host.numbers().joined == CLIENTS + 1);

    // A broadcast is on its way to all of them when they are cut.
    survivor.push("2", CROWD_TOPIC, "say", &json!({ "last": "words" }));
    crowds.iter_mut().for_each(Crowd::kill);
    assert_eq!(survivor.event(CROWD_TOPIC, "said"), json!({ "last": "words" }));
    wait_until("they are forgotten", || {
        let now = host.numbers();
        (now.connections_open, now.joined, now.topics) == (1, 1, 1)
    });
    assert_eq!(survivor.ask("3", CROWD_TOPIC, "echo", &json!({}))["status"], "ok");
    drop(survivor);
    host.wait_until_empty();

    let mut newcomer = Client::open(host.address, SOCKET);
    assert_eq!(newcomer.join(CROWD_TOPIC)["status"], "ok");
    newcomer.push("2", CROWD_TOPIC, "say", &json!({ "first": "words" }));
    assert_eq!(newcomer.event(CROWD_TOPIC, "said"), json!({ "first": "words" }));
}
