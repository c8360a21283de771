//! Everybody goes away in the same moment; everybody is told something in the same moment.

use crate::{CROWD, HOST, SOCKET};
use faults::{CROWD_TOPIC, Client, Crowd, Host, HostOptions, gather, wait_until};
use serde_json::{Value, json};

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
    // Who dies with something unread is reset, and a reset that the kernel drops (its queue for this machine's own packets holds
    // a thousand) is not sent again: the next words find them.
    let mut looks = 0_u32;
    wait_until("they are forgotten", || {
        let now = host.numbers();
        looks += 1;
        if looks.is_multiple_of(100) {
            survivor.push("2", CROWD_TOPIC, "say", &json!({ "further": "words" }));
        }
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

#[test]
fn shards_that_take_turns_in_seeing_a_crowd_go_leave_nothing_behind_and_let_the_few_talk() {
    // More than eight for the one processor, so that there are turns.
    const SHARDS: usize = 12;
    let options = HostOptions { shards: Some(SHARDS), one_processor: true, ..HostOptions::default() };
    let host = Host::start(HOST, options);
    let gather = |_| Crowd::start(CROWD, host.address, SOCKET, CLIENTS_PER_PROCESS);
    let mut crowds: Vec<Crowd> = (0..2).map(gather).collect();
    crowds.iter_mut().for_each(Crowd::wait_until_joined);
    let mut few: Vec<Client> = (0..2 * SHARDS).map(|_| Client::open(host.address, SOCKET)).collect();
    for client in &mut few {
        client.join("room:few");
    }
    crowds.iter_mut().for_each(Crowd::kill);
    for word in 0..20 {
        few[0].push("2", "room:few", "say", &json!({ "word": word }));
        for client in &mut few {
            assert_eq!(client.event("room:few", "said"), json!({ "word": word }));
        }
    }
    wait_until("they are forgotten", || {
        let now = host.numbers();
        (now.connections_open, now.joined) == (2 * SHARDS as u64, 2 * SHARDS as u64)
    });
    drop(few);
    host.wait_until_empty();
}

#[test]
fn shards_that_take_turns_with_a_crowd_serve_every_member_once_and_let_the_few_talk() {
    const SHARDS: usize = 3;
    const WORDS: u64 = 3;
    // Of a crowd is spoken from 1,024 members of one shard on; the kernel spreads connections by chance.
    const MEMBERS: usize = SHARDS * 1500;
    let options = HostOptions { shards: Some(SHARDS), one_processor: true, ..HostOptions::default() };
    let host = Host::start(HOST, options);
    faults::limit_descriptors(None);
    let mut crowd = gather(host.address, SOCKET, MEMBERS);
    let mut few: Vec<Client> = (0..2 * SHARDS).map(|_| Client::open(host.address, SOCKET)).collect();
    for client in &mut few {
        client.join("room:few");
    }
    for word in 0..WORDS {
        crowd[0].push("2", CROWD_TOPIC, "say", &json!({ "word": word }));
        few[0].push("2", "room:few", "say", &json!({ "word": word }));
        for client in &mut few {
            assert_eq!(client.event("room:few", "said"), json!({ "word": word }));
        }
    }
    for (number, client) in crowd.iter_mut().enumerate() {
        let heard = (0..WORDS).map(|_| client.event(CROWD_TOPIC, "said")["word"].as_u64());
        assert!(heard.eq((0..WORDS).map(Some)), "member {number} hears every word once, in order");
    }
    // Whoever had been served twice would find the second copy in front of a later answer.
    for client in &mut crowd {
        client.push("4", CROWD_TOPIC, "echo", &json!({}));
        let mut next = || serde_json::from_str::<Value>(&client.message()).expect("JSON");
        let last =
            std::iter::from_fn(|| Some(next())).find(|message| message[3] == "said" || message[1] == "4");
        assert_eq!(last.map(|message| message[3].clone()), Some(json!("phx_reply")));
    }
}
