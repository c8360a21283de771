//! Tests specific to Redis Cluster: partitions among masters, slots that move, and a replica that takes a master's
//! place.

#[path = "../node/mod.rs"]
mod node;

use hub::{BusEvent, Span};
use node::redis_cluster::{self, Cluster, has_followed, move_slot};
use node::redis_server::{Family, ask, on_redis_and_valkey};
use node::server::Server;
use node::settings::{prompt, settings};
use node::{Node, json, texts};

on_redis_and_valkey! {
    topics_are_divided_among_the_masters_and_one_server_tells_of_the_others
    a_server_that_was_taken_out_of_the_cluster_does_not_keep_a_node_from_it
    a_slot_that_moves_takes_its_topics_along
    a_replica_takes_the_place_of_a_master_that_was_killed_and_nothing_that_it_had_is_lost
    what_is_no_cluster_and_what_is_one_are_named
}

fn topics() -> impl Iterator<Item = String> {
    (0..20).map(|number| format!("kept:{number}"))
}

/// Checks that publications of one node on each topic reach the other, on recoverable and ephemeral topics.
fn hear_each_other(ann: &Node, bob: &Node) {
    for topic in topics() {
        bob.subscribe(&topic);
        ann.append(&topic, "1");
        bob.ordered(&topic);
        ann.publish(&topic, json("2"));
        bob.hears("a delivery", |event| match event {
            BusEvent::Delivered { publication, .. } => (*publication.topic == *topic).then_some(()),
            _ => None,
        });
    }
}

fn orders(server: &Server) -> Vec<String> {
    ask(server, &["KEYS", "test:*:order:*"])
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn topics_are_divided_among_the_masters_and_one_server_tells_of_the_others(family: Family) {
    let cluster = Cluster::start(family, 3, 0);
    let [ann, bob] = [0, 2].map(|seed| Node::up(cluster.masters[seed].settings()));
    ann.sees_leases(&[ann.id, bob.id]);
    hear_each_other(&ann, &bob);
    for server in &cluster.masters {
        assert!((1..18).contains(&orders(server).len()), "{:?}", orders(server));
    }
}

fn a_server_that_was_taken_out_of_the_cluster_does_not_keep_a_node_from_it(family: Family) {
    let (outcast, cluster) = (redis_cluster::outcast(family), Cluster::start(family, 2, 0));
    let seeds = [outcast.url(), cluster.masters[1].url()];
    let [ann, bob] = [(); 2].map(|()| Node::up(settings(&[&seeds[0], &seeds[1]])));
    ann.sees_leases(&[ann.id, bob.id]);
    hear_each_other(&ann, &bob);
    Node::start(outcast.settings()).is_away_because("no master serves hash slot");
}

fn a_slot_that_moves_takes_its_topics_along(family: Family) {
    let cluster = Cluster::start(family, 2, 0);
    let [from, to] = [&cluster.masters[0], &cluster.masters[1]];
    let [ann, bob] = [(); 2].map(|()| Node::up(from.settings()));
    hear_each_other(&ann, &bob);
    let key = orders(from).into_iter().next().expect("topics are divided");
    let topic = key.rsplit_once("order:").expect("a topic's").1.to_owned();
    let epoch = bob.subscribe(&topic).expect("it is recoverable").epoch;
    move_slot(&ask(from, &["CLUSTER", "KEYSLOT", &key]), from, to);
    for node in [&ann, &bob] {
        node.waits_for_down();
        node.waits_for_up();
    }
    assert!(orders(to).contains(&key) && !orders(from).contains(&key));
    ann.sees_leases(&[ann.id, bob.id]);
    let position = bob.subscribe(&topic).expect("it is recoverable");
    assert_eq!(position.epoch, epoch, "the order goes on");
    ann.append(&topic, "3");
    bob.ordered(&topic);
    assert_eq!(texts(&bob.read(&topic, Span::Oldest { since: 0 }).ordered), ["1", "3"]);
}

fn a_replica_takes_the_place_of_a_master_that_was_killed_and_nothing_that_it_had_is_lost(family: Family) {
    let mut cluster = Cluster::start(family, 3, 1);
    // The server that will be killed is asked first.
    let urls = [cluster.masters[0].url(), cluster.masters[1].url()];
    let [ann, bob] = [(); 2].map(|()| Node::up(prompt(settings(&[&urls[0], &urls[1]]))));
    hear_each_other(&ann, &bob);
    let kept = orders(&cluster.masters[0]);
    assert!(!kept.is_empty());
    has_followed(&cluster.replicas[0], &cluster.masters[0]);
    cluster.masters[0].kill();
    for node in [&ann, &bob] {
        node.waits_for_down();
        node.waits_for_up();
    }
    let mut taken = orders(&cluster.replicas[0]);
    taken.sort();
    assert_eq!(taken, {
        let mut kept = kept;
        kept.sort();
        kept
    });
    ann.sees_leases(&[ann.id, bob.id]);
    for topic in topics() {
        bob.subscribe(&topic);
        ann.append(&topic, "3");
        bob.ordered(&topic);
        assert_eq!(texts(&bob.read(&topic, Span::Oldest { since: 0 }).ordered), ["1", "3"], "{topic}");
    }
}

fn what_is_no_cluster_and_what_is_one_are_named(family: Family) {
    let (alone, member) = (family.start(), redis_cluster::start(family));
    let as_cluster = alone.url().replace("://", "-cluster://");
    Node::start(settings(&[&as_cluster])).is_away_because("it is not a cluster: write redis://");
    let as_server = member.url().replace("-cluster://", "://");
    Node::start(settings(&[&as_server])).is_away_because("it is part of a cluster: write redis-cluster://");
    let error = bus::Bus::new(settings(&[&alone.url(), &member.url()])).err();
    assert_eq!(error, Some(bus::BadSettings::SeveralEngines));
}
