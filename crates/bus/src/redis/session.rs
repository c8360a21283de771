//! The session with all instances, until one of them is away.

use super::instance::Instance;
use super::leases::Leases;
use super::pump::Pump;
use crate::failure::Failure;
use crate::queue::{QueueSender, queue};
use crate::requests::{Request, Requests};
use crate::session::SessionContext;
use hub::BusEffect;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::JoinSet;

pub(crate) struct Session {
    instances: Vec<Instance>,
    leases: Arc<Leases>,
}

impl Session {
    pub(crate) fn new(instances: Vec<Instance>, leases: Arc<Leases>) -> Session {
        Session { instances, leases }
    }

    /// Runs until an instance is away, and returns why; `None` if no hub is left.
    pub(crate) async fn serve(self, context: &SessionContext, requests: &mut Requests) -> Option<Failure> {
        let Session { instances, leases } = self;
        leases.tell(context);
        let (mut pumps, mut ways) = (JoinSet::new(), Vec::with_capacity(instances.len()));
        for (index, instance) in instances.into_iter().enumerate() {
            let (way, queue) = queue();
            ways.push(way);
            let (leases, context) = (leases.clone(), context.clone());
            pumps.spawn(Pump { index, instance, queue, leases, context }.run());
        }
        hand_on(&ways, context, requests, &mut pumps).await
    }
}

/// Routes requests until a failure.
async fn hand_on(
    ways: &[QueueSender],
    context: &SessionContext,
    requests: &mut Requests,
    pumps: &mut JoinSet<Failure>,
) -> Option<Failure> {
    loop {
        tokio::select! {
            biased;
            ended = pumps.join_next() => {
                let crashed = || Failure::Refused("the connection ended unexpectedly".to_owned());
                return Some(ended.and_then(Result::ok).unwrap_or_else(crashed));
            }
            next = requests.next() => {
                for request in next? {
                    if let Err(failure) = route(ways, context, request) {
                        return Some(failure);
                    }
                }
            }
        }
    }
}

fn route(ways: &[QueueSender], context: &SessionContext, request: Request) -> Result<(), Failure> {
    let way = |topic: &str| instance_of(topic, ways.len());
    let (shard, effect, passage) = match request {
        Request::Effect { shard, effect, passage } => (shard, effect, passage),
        Request::Lost(passage) => return ways[way(passage.topic())].offer(context, Request::Lost(passage)),
    };
    let offer =
        |at: usize, effect, passage| ways[at].offer(context, Request::Effect { shard, effect, passage });
    match effect {
        BusEffect::Heads(heads) => {
            for (at, heads) in divided(heads, way) {
                offer(at, BusEffect::Heads(heads), None)?;
            }
            Ok(())
        }
        BusEffect::PresenceHeads(heads) => {
            for (at, heads) in divided(heads, way) {
                offer(at, BusEffect::PresenceHeads(heads), None)?;
            }
            Ok(())
        }
        BusEffect::Publish(ref publication) => offer(way(&publication.topic), effect, passage),
        BusEffect::Dismiss(ref dismissal) => offer(way(dismissal.id()), effect, passage),
        // All through one instance, to keep their order.
        BusEffect::Tell(_) => offer(0, effect, passage),
        BusEffect::Append { ref draft, .. } => offer(way(&draft.topic), effect, passage),
        BusEffect::Interest { ref topic, .. }
        | BusEffect::ReadHistory { ref topic, .. }
        | BusEffect::Present { ref topic, .. }
        | BusEffect::People { ref topic, .. }
        | BusEffect::ReadPeople { ref topic } => offer(way(topic), effect, passage),
    }
}

fn divided<T>(heads: Vec<(Arc<str>, T)>, way: impl Fn(&str) -> usize) -> BTreeMap<usize, Vec<(Arc<str>, T)>> {
    let mut divided: BTreeMap<usize, Vec<(Arc<str>, T)>> = BTreeMap::new();
    for head in heads {
        divided.entry(way(&head.0)).or_default().push(head);
    }
    divided
}

/// Returns the instance of a topic, by FNV-1a; all nodes must agree.
fn instance_of(topic: &str, instances: usize) -> usize {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = topic.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    (hash % instances as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_spread_over_the_instances_and_every_node_finds_them() {
        let mut topics = [0; 3];
        for number in 0..300 {
            topics[instance_of(&format!("rooms:{number}"), 3)] += 1;
        }
        assert!(topics.iter().all(|count| *count > 50), "{topics:?}");
        // A node of another build must compute the same.
        assert_eq!(instance_of("rooms:lobby", 16), 9);
        assert_eq!(instance_of("anything", 1), 0);
    }
}
