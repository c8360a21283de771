//! What nodes know of each other beside the topics.

use crate::engine::Engine;
use crate::node::Node;
use bus::Settings;
use std::net::SocketAddr;

fn at(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

fn listening(engine: &impl Engine, address: SocketAddr) -> Node {
    let node = Node::start_listening(engine.settings(), Some(address));
    node.waits_for_up();
    node
}

pub(crate) fn nodes_learn_where_the_others_listen_and_show_each_other_one_secret(engine: impl Engine) {
    let ann = listening(&engine, at(4002));
    let secret = ann.knows_peers(&[(ann.id, at(4002))]);
    assert!(secret.len() >= 32, "nobody guesses it");
    // One that listens nowhere, one at all addresses, and one that the others reach elsewhere.
    let silent = Node::up(engine.settings());
    let everywhere = listening(&engine, ([0, 0, 0, 0], 4003).into());
    let settings = Settings { announced: Some(at(5004)), ..engine.settings() };
    let elsewhere = Node::start_listening(settings, Some(at(4004)));
    elsewhere.waits_for_up();
    let all = [(ann.id, at(4002)), (everywhere.id, at(4003)), (elsewhere.id, at(5004))];
    for node in [&ann, &silent, &everywhere, &elsewhere] {
        assert_eq!(node.knows_peers(&all), secret);
    }
    everywhere.kill();
    for node in [&ann, &silent, &elsewhere] {
        node.knows_peers(&[(ann.id, at(4002)), (elsewhere.id, at(5004))]);
    }
}

pub(crate) fn what_nodes_show_each_other_outlives_an_engine_that_lost_everything(mut engine: impl Engine) {
    engine.kill();
    engine.save_files();
    engine.start_again();
    let (ann, bob) = (listening(&engine, at(4002)), listening(&engine, at(4003)));
    let both = [(ann.id, at(4002)), (bob.id, at(4003))];
    let secret = ann.knows_peers(&both);
    engine.kill();
    for node in [&ann, &bob] {
        node.waits_for_down();
    }
    engine.restore_files();
    engine.start_again();
    for node in [&ann, &bob] {
        node.waits_for_up();
    }
    let cat = listening(&engine, at(4005));
    let all = [both[0], both[1], (cat.id, at(4005))];
    for node in [&ann, &bob, &cat] {
        assert_eq!(node.knows_peers(&all), secret);
    }
}
