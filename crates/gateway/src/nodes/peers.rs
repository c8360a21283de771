//! Which nodes there are, where they listen, and what is asked of them.

use super::line::{Forwarded, Line, Unanswered};
use bytes::Bytes;
use hub::NodeId;
use hyper::{Response, StatusCode};
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq as _;

/// The nodes of a cluster, as a bus knows them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Peers {
    /// What nodes show each other; empty if there is nothing to show, and then nobody is believed.
    pub secret: Arc<str>,
    /// Where each listens for the others. This node may be among them; those that listen nowhere are missing.
    pub addresses: Vec<(NodeId, SocketAddr)>,
}

/// The secret is not for logs.
impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Ways to the other nodes.
pub(crate) struct Nodes {
    own: NodeId,
    known: Mutex<Known>,
    pub(crate) counts: ForwardCounts,
}

#[derive(Default)]
struct Known {
    secret: Arc<str>,
    lines: HashMap<NodeId, Arc<Line>>,
}

/// Requests that were forwarded to other nodes, by what came of it.
#[derive(Default)]
pub(crate) struct ForwardCounts {
    pub(crate) answered: AtomicU64,
    /// The node knows no such session.
    pub(crate) gone: AtomicU64,
    /// The node is unknown, does not let this one in, or did not answer in time.
    pub(crate) unreachable: AtomicU64,
}

impl ForwardCounts {
    /// Each with its name.
    pub(crate) fn named(&self) -> [(&'static str, u64); 3] {
        let ForwardCounts { answered, gone, unreachable } = self;
        [("answered", answered), ("gone", gone), ("unreachable", unreachable)]
            .map(|(name, count)| (name, count.load(Relaxed)))
    }
}

impl Nodes {
    pub(crate) fn new(own: NodeId) -> Nodes {
        Nodes { own, known: Mutex::default(), counts: ForwardCounts::default() }
    }

    /// Whether this node has the name.
    pub(crate) fn is_own(&self, node: NodeId) -> bool {
        node == self.own
    }

    /// The bus says which nodes there are. Connections to those that stay where they were are kept.
    pub(crate) fn tell(&self, peers: Peers) {
        let Peers { secret, addresses } = peers;
        let mut known = self.known();
        let mut before = std::mem::take(&mut known.lines);
        let others = addresses.into_iter().filter(|(node, _)| !self.is_own(*node));
        known.lines = others
            .map(|(node, address)| {
                let kept = before.remove(&node).filter(|line| line.address() == address);
                (node, kept.unwrap_or_else(|| Arc::new(Line::new(address))))
            })
            .collect();
        known.secret = secret;
    }

    /// Whether somebody shows what nodes show each other.
    pub(crate) fn are_shown(&self, secret: &[u8]) -> bool {
        let known = self.known();
        !known.secret.is_empty() && bool::from(known.secret.as_bytes().ct_eq(secret))
    }

    /// Another node's answer to a client's request, with a status of 200 or 400; `None` if there is no such session to be
    /// had there.
    pub(crate) async fn forward(&self, node: NodeId, request: Forwarded) -> Option<Response<Bytes>> {
        let (line, secret) = {
            let known = self.known();
            (known.lines.get(&node).cloned(), known.secret.clone())
        };
        let Some(line) = line else {
            self.counts.unreachable.fetch_add(1, Relaxed);
            return None;
        };
        match line.ask(&secret, request).await {
            Ok(answer) if answer.status() == StatusCode::GONE => {
                self.counts.gone.fetch_add(1, Relaxed);
                None
            }
            Ok(answer) => {
                self.counts.answered.fetch_add(1, Relaxed);
                Some(answer)
            }
            Err(Unanswered(why)) => {
                self.counts.unreachable.fetch_add(1, Relaxed);
                tracing::debug!(address = %line.address(), why, "a request could not be forwarded to its node");
                None
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(secret: &str, addresses: &[(u64, u16)]) -> Peers {
        let address = |&(node, port): &(u64, u16)| (NodeId(node), SocketAddr::from(([127, 0, 0, 1], port)));
        Peers { secret: secret.into(), addresses: addresses.iter().map(address).collect() }
    }

    #[test]
    fn nobody_is_believed_before_the_bus_has_told_the_secret() {
        let nodes = Nodes::new(NodeId(1));
        assert!(!nodes.are_shown(b""));
        nodes.tell(peers("s3cret", &[]));
        assert!(nodes.are_shown(b"s3cret"));
        for wrong in [&b""[..], b"s3cre", b"s3cret ", b"S3cret"] {
            assert!(!nodes.are_shown(wrong));
        }
        assert!(!format!("{:?}", peers("s3cret", &[(2, 1)])).contains("s3cret"));
    }

    #[test]
    fn a_way_is_kept_as_long_as_its_node_stays_where_it_is() {
        let nodes = Nodes::new(NodeId(1));
        let line = |node| nodes.known().lines.get(&NodeId(node)).cloned();
        nodes.tell(peers("", &[(1, 1), (2, 2), (3, 3)]));
        assert!(line(1).is_none(), "nobody forwards to themselves");
        let (two, three) = (line(2).expect("told"), line(3).expect("told"));
        nodes.tell(peers("", &[(2, 2), (3, 4)]));
        assert!(Arc::ptr_eq(&two, &line(2).expect("told")));
        assert!(!Arc::ptr_eq(&three, &line(3).expect("told")));
        nodes.tell(peers("", &[(3, 4)]));
        assert!(line(2).is_none());
    }
}
