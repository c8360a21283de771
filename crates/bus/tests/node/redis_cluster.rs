//! A Redis or Valkey cluster, of one master or of several with replicas.

use crate::node::DEADLINE;
use crate::node::redis_server::{Family, ask};
use crate::node::server::{Server, free_port};
use std::time::{Duration, Instant};

/// How long a master may be silent before the others replace it.
const NODE_TIMEOUT_MS: &str = "1000";

/// Starts a cluster of one master, which has all slots.
pub(crate) fn start(family: Family) -> Server {
    let (server, _) = member(family);
    has_slots(&server, 0, 16_383);
    is_whole(&server);
    server
}

/// Starts a server that was removed from its cluster: it answers, but has no slots.
pub(crate) fn outcast(family: Family) -> Server {
    member(family).0
}

/// Masters that divide the slots in order, followed by as many replicas of the first ones.
pub(crate) struct Cluster {
    pub(crate) masters: Vec<Server>,
    pub(crate) replicas: Vec<Server>,
}

impl Cluster {
    pub(crate) fn start(family: Family, masters: usize, replicas: usize) -> Cluster {
        let mut members: Vec<(Server, u16)> = (0..masters + replicas).map(|_| member(family)).collect();
        for (index, (server, _)) in members.iter().enumerate() {
            does(server, &["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()]);
        }
        let (first, others) = members.split_first().expect("there is a master");
        for (server, bus_port) in others {
            does(
                &first.0,
                &["CLUSTER", "MEET", "127.0.0.1", &server.port.to_string(), &bus_port.to_string()],
            );
        }
        let edge = |index: usize| u16::try_from(16_384 * index / masters).expect("a slot");
        for (index, (server, _)) in members[..masters].iter().enumerate() {
            has_slots(server, edge(index), edge(index + 1) - 1);
        }
        let known = masters + replicas;
        for (server, _) in &members {
            waits_until("all know each other", || {
                info(server).contains(&format!("cluster_known_nodes:{known}\r"))
            });
            is_whole(server);
        }
        for (index, (server, _)) in members[masters..].iter().enumerate() {
            does(server, &["CLUSTER", "REPLICATE", &id(&members[index].0)]);
        }
        let mut servers = members.drain(..).map(|(server, _)| server);
        Cluster { masters: servers.by_ref().take(masters).collect(), replicas: servers.collect() }
    }
}

/// Moves a slot with its contents to another master.
pub(crate) fn move_slot(slot: &str, from: &Server, to: &Server) {
    let (from_id, to_id) = (id(from), id(to));
    does(to, &["CLUSTER", "SETSLOT", slot, "IMPORTING", &from_id]);
    does(from, &["CLUSTER", "SETSLOT", slot, "MIGRATING", &to_id]);
    let keys = ask(from, &["CLUSTER", "GETKEYSINSLOT", slot, "1000"]);
    let to_port = to.port.to_string();
    let migrate = ["MIGRATE", "127.0.0.1", &to_port, "", "0", "5000", "KEYS"];
    does(from, &migrate.into_iter().chain(keys.lines()).collect::<Vec<_>>());
    for server in [to, from] {
        does(server, &["CLUSTER", "SETSLOT", slot, "NODE", &to_id]);
    }
}

/// Waits until a replica has received everything from its master.
pub(crate) fn has_followed(replica: &Server, master: &Server) {
    let offset = |server: &Server, field: &str| {
        let info = ask(server, &["INFO", "replication"]);
        info.lines().find_map(|line| line.strip_prefix(field).map(|rest| rest.trim().to_owned()))
    };
    waits_until("the replica has followed", || {
        let (at, reached) = (offset(master, "master_repl_offset:"), offset(replica, "slave_repl_offset:"));
        ask(replica, &["INFO", "replication"]).contains("master_link_status:up")
            && at.is_some()
            && at == reached
    });
}

fn member(family: Family) -> (Server, u16) {
    let (port, bus_port) = (free_port(), free_port());
    let (port_text, bus_text) = (port.to_string(), bus_port.to_string());
    let arguments = [
        &["--appendonly", "yes", "--appendfsync", "always"][..],
        &["--port", &port_text, "--cluster-port", &bus_text, "--cluster-enabled", "yes"],
        &["--cluster-node-timeout", NODE_TIMEOUT_MS, "--cluster-replica-validity-factor", "0"],
        &["--repl-ping-replica-period", "1", "--repl-diskless-sync-delay", "0"],
    ];
    let scheme = match family {
        Family::Redis => "redis-cluster",
        Family::Valkey => "valkey-cluster",
    };
    (family.start_as(scheme, port, &arguments.concat()), bus_port)
}

fn has_slots(server: &Server, first: u16, last: u16) {
    does(server, &["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
}

fn is_whole(server: &Server) {
    waits_until("the cluster is whole", || info(server).contains("cluster_state:ok"));
}

fn info(server: &Server) -> String {
    ask(server, &["CLUSTER", "INFO"])
}

fn id(server: &Server) -> String {
    ask(server, &["CLUSTER", "MYID"])
}

fn does(server: &Server, words: &[&str]) {
    let answer = ask(server, words);
    assert!(answer == "OK" || answer == "NOKEY", "{words:?}: {answer}");
}

fn waits_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
