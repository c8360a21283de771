//! What nodes know about each other besides topics.

use crate::node::Node;
use crate::node::server::Server;
use crate::node::settings::prompt;
use bus::{NodeAddress, Settings};
use hub::NodeId;

fn at(address: &str) -> NodeAddress {
    NodeAddress { address: address.parse().expect("an address"), secret: format!("for-{address}").into() }
}

fn listening(settings: Settings, at: NodeAddress) -> Node {
    let node = Node::start_listening(settings, Some(at));
    node.waits_for_up();
    node
}

pub(crate) fn nodes_learn_where_the_others_listen_and_what_to_show_there(engine: Server) {
    let settings = || prompt(engine.settings());
    let ann = listening(settings(), at("127.0.0.1:4002"));
    let of_ann: (NodeId, NodeAddress) = (ann.id, at("127.0.0.1:4002"));
    ann.knows_peers(std::slice::from_ref(&of_ann));
    // One that does not listen, one at all addresses, and one that the others reach at another address.
    let silent = Node::up(settings());
    let everywhere = listening(settings(), at("0.0.0.0:4003"));
    let announced = Some(at("127.0.0.1:5004").address);
    let elsewhere = listening(Settings { announced, ..settings() }, at("127.0.0.1:4004"));
    let reached = |address: &str, listens: &str| NodeAddress { address: at(address).address, ..at(listens) };
    let of_everywhere = (everywhere.id, reached("127.0.0.1:4003", "0.0.0.0:4003"));
    let of_elsewhere = (elsewhere.id, reached("127.0.0.1:5004", "127.0.0.1:4004"));
    for node in [&ann, &silent, &everywhere, &elsewhere] {
        node.knows_peers(&[of_ann.clone(), of_everywhere.clone(), of_elsewhere.clone()]);
    }
    everywhere.kill();
    for node in [&ann, &silent, &elsewhere] {
        node.knows_peers(&[of_ann.clone(), of_elsewhere.clone()]);
    }
}

pub(crate) fn nodes_are_known_again_after_the_engine_lost_everything(mut engine: Server) {
    engine.kill();
    engine.save_files();
    engine.start_again();
    let ann = listening(engine.settings(), at("127.0.0.1:4002"));
    let bob = listening(engine.settings(), at("127.0.0.1:4003"));
    let both = [(ann.id, at("127.0.0.1:4002")), (bob.id, at("127.0.0.1:4003"))];
    engine.kill();
    for node in [&ann, &bob] {
        node.waits_for_down();
        node.forgets_peers();
    }
    engine.restore_files();
    engine.start_again();
    for node in [&ann, &bob] {
        node.waits_for_up();
        node.knows_peers(&both);
    }
}
