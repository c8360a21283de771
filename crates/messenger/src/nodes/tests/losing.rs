//! The people of a node that is gone: the thread that learns it does not wait for their removal.

use super::presence::{seen_in, told_of};
use super::{Node, ONE, OTHER, begin, pairs};
use crate::scene::run;
use chat::Conversation;
use gateway::FromNodes;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Ann is on one node and sees Bob, who is on the other.
async fn begin_with_bob() -> (Node, Node, Conversation) {
    let (here, there, lobby) = begin().await;
    here.welcome("ann", 1, &lobby);
    there.welcome("bob", 1, &lobby);
    tell_everybody(&there);
    here.hear(&there);
    assert_eq!(seen_in(&here, &lobby).len(), 2);
    drop(here.events());
    (here, there, lobby)
}

fn tell_everybody(node: &Node) {
    node.messenger.inner.nodes.roster.is_asked.store(true, Relaxed);
    node.messenger.tick();
}

#[test]
fn who_hears_that_a_node_is_gone_loses_nobody_itself() {
    run(async {
        let (here, _, lobby) = begin_with_bob().await;
        here.messenger.hear(FromNodes::Nodes(&[ONE]));
        assert_eq!(seen_in(&here, &lobby).len(), 2);
        assert!(here.events().is_empty());
        here.lose();
        assert_eq!(told_of(&here, "bob"), pairs(&[("room:one/lobby", "offline")]));
        assert_eq!(seen_in(&here, &lobby).len(), 1);
    });
}

#[test]
fn who_is_told_of_again_before_they_are_lost_stays() {
    run(async {
        let (here, there, lobby) = begin_with_bob().await;
        here.messenger.hear(FromNodes::Nodes(&[ONE]));
        here.messenger.hear(FromNodes::Nodes(&[ONE, OTHER]));
        tell_everybody(&there);
        here.hear(&there);
        here.lose();
        assert_eq!(seen_in(&here, &lobby).len(), 2);
        assert!(told_of(&here, "bob").is_empty());
    });
}

#[test]
fn a_thread_of_the_messengers_own_loses_them_and_does_not_keep_the_messenger() {
    run(async {
        let (here, _, lobby) = begin_with_bob().await;
        here.messenger.start_housekeeping().expect("threads");
        here.messenger.hear(FromNodes::Nodes(&[ONE]));
        eventually(|| seen_in(&here, &lobby).len() == 1);
        let inner = Arc::downgrade(&here.messenger.inner);
        drop(here);
        eventually(|| inner.strong_count() == 0);
    });
}

fn eventually(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < deadline, "it is still not so");
        thread::sleep(Duration::from_millis(10));
    }
}
