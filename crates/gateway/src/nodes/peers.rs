//! The known nodes, their addresses, and the forwarding of requests to them.

use super::address::NodeAddress;
use super::line::{Forwarded, Line, Unanswered};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hub::NodeId;
use hyper::{Response, StatusCode};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq as _;

/// The connections to the other nodes.
pub(crate) struct Nodes {
    own: NodeId,
    /// The secret that others must present here.
    secret: Arc<str>,
    lines: Mutex<HashMap<NodeId, Arc<Line>>>,
    pub(crate) counts: ForwardCounts,
}

/// Requests that were forwarded to other nodes, by outcome.
#[derive(Default)]
pub(crate) struct ForwardCounts {
    pub(crate) answered: AtomicU64,
    /// The node does not know the session.
    pub(crate) gone: AtomicU64,
    /// The node is unknown, does not accept this node's secret, or did not answer in time.
    pub(crate) unreachable: AtomicU64,
}

impl ForwardCounts {
    /// Returns the counts with their names.
    pub(crate) fn named(&self) -> [(&'static str, u64); 3] {
        let ForwardCounts { answered, gone, unreachable } = self;
        [("answered", answered), ("gone", gone), ("unreachable", unreachable)]
            .map(|(name, count)| (name, count.load(Relaxed)))
    }
}

impl Nodes {
    /// Creates the state of a node that knows no others yet.
    pub(crate) fn new(own: NodeId) -> io::Result<Nodes> {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits).map_err(io::Error::other)?;
        let secret = URL_SAFE_NO_PAD.encode(bits).into();
        Ok(Nodes { own, secret, lines: Mutex::default(), counts: ForwardCounts::default() })
    }

    /// Returns whether the id is this node's own.
    pub(crate) fn is_own(&self, node: NodeId) -> bool {
        node == self.own
    }

    /// Returns the address and secret to announce to the other nodes.
    pub(crate) fn listening(&self, address: SocketAddr) -> NodeAddress {
        NodeAddress { address, secret: self.secret.clone() }
    }

    /// Sets which nodes there are. Connections to nodes whose address did not change are kept.
    pub(crate) fn tell(&self, peers: Vec<(NodeId, NodeAddress)>) {
        let mut lines = self.lines();
        let mut before = std::mem::take(&mut *lines);
        let others = peers.into_iter().filter(|(node, _)| !self.is_own(*node));
        *lines = others
            .map(|(node, listening)| {
                let kept = before.remove(&node).filter(|line| *line.listening() == listening);
                (node, kept.unwrap_or_else(|| Arc::new(Line::new(listening))))
            })
            .collect();
    }

    /// Returns whether this is the secret that must be presented here.
    pub(crate) fn are_shown(&self, secret: &[u8]) -> bool {
        self.secret.as_bytes().ct_eq(secret).into()
    }

    /// Forwards a client's request. Returns the other node's answer, with a status of 200 or 400; `None` if the session
    /// cannot be reached there.
    pub(crate) async fn forward(&self, node: NodeId, request: Forwarded) -> Option<Response<Bytes>> {
        let line = self.lines().get(&node).cloned();
        let Some(line) = line else {
            self.counts.unreachable.fetch_add(1, Relaxed);
            return None;
        };
        match line.ask(request).await {
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
                tracing::debug!(address = %line.listening().address, why, "a request could not be forwarded to its node");
                None
            }
        }
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<NodeId, Arc<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(peers: &[(u64, u16, &str)]) -> Vec<(NodeId, NodeAddress)> {
        let listening = |&(node, port, secret): &(u64, u16, &str)| {
            (NodeId(node), NodeAddress { address: ([127, 0, 0, 1], port).into(), secret: secret.into() })
        };
        peers.iter().map(listening).collect()
    }

    #[test]
    fn each_node_has_a_secret_that_nobody_guesses_or_reads_in_a_log() {
        let [one, other] = [1, 2].map(|node| Nodes::new(NodeId(node)).expect("random numbers"));
        let listening = one.listening(([127, 0, 0, 1], 4002).into());
        let secret = listening.secret.as_bytes();
        assert!(one.are_shown(secret) && !other.are_shown(secret));
        assert!(secret.len() >= 43, "256 bits");
        for wrong in [&b""[..], &secret[1..], &[secret, b" "].concat()] {
            assert!(!one.are_shown(wrong));
        }
        assert!(!format!("{listening:?}").contains(&*listening.secret));
    }

    #[test]
    fn a_way_is_kept_as_long_as_its_node_stays_where_it_is() {
        let nodes = Nodes::new(NodeId(1)).expect("random numbers");
        let line = |node| nodes.lines().get(&NodeId(node)).cloned();
        nodes.tell(peers(&[(1, 1, "a"), (2, 2, "b"), (3, 3, "c")]));
        assert!(line(1).is_none(), "nobody forwards to themselves");
        let (two, three) = (line(2).expect("told"), line(3).expect("told"));
        nodes.tell(peers(&[(2, 2, "b"), (3, 4, "c")]));
        assert!(Arc::ptr_eq(&two, &line(2).expect("told")));
        assert!(!Arc::ptr_eq(&three, &line(3).expect("told")));
        nodes.tell(peers(&[(2, 2, "d")]));
        assert!(!Arc::ptr_eq(&two, &line(2).expect("told")));
        assert!(line(3).is_none());
    }
}
