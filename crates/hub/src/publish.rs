//! The path of a publication: the publisher's own shard first, then the topic's home, then every shard with members.

use crate::backlog::Encoded;
use crate::class::Class;
use crate::dismissal::Dismissal;
use crate::effect::{Effect, Effects};
use crate::event::ShardMessage;
use crate::frames::Dialect;
use crate::guard;
use crate::hub::Hub;
use crate::ids::Sequence;
use crate::ids::{ShardIndex, TopicId};
use crate::outgoing::Outgoing;
use crate::publication::{DISCONNECT_EVENT, Publication};
use proto::ws::CloseCode;
use std::sync::Arc;

/// The connection whose channel published.
#[derive(Clone, Copy)]
pub(crate) struct Publisher {
    pub(crate) slot: u32,
    /// Whether it is left out, as for `broadcast_from`.
    pub(crate) excluded: bool,
    /// The events that its channel intercepts; the channel itself has been taken out of the join while its handler
    /// runs.
    pub(crate) intercepts: &'static [&'static str],
}

impl Hub {
    pub(crate) fn publish(
        &mut self,
        publisher: Publisher,
        topic: Arc<str>,
        event: &str,
        payload: Outgoing<'_>,
        out: &mut Effects,
    ) {
        let (event, payload, received) = (event.into(), payload.into_owned(), self.now);
        let publication = Arc::new(Publication { topic, event, payload, received, place: None });
        self.disconnect_everywhere(&publication.topic, &publication.event, out);
        self.deliver_locally(&publication, Some(publisher), out);
        let origin = Some(self.config.shard);
        let home = self.home_of(&publication.topic);
        let message = ShardMessage::Publish { origin, publication };
        if home == self.config.shard {
            self.shard_message(message, out);
        } else {
            out.push(Effect::ToShard { shard: home, message, class: Class::Ephemeral });
        }
    }

    /// Closes the sockets with a socket id on every shard if the event is `disconnect`.
    pub(crate) fn disconnect_everywhere(&mut self, topic: &Arc<str>, event: &str, out: &mut Effects) {
        if event != DISCONNECT_EVENT {
            return;
        }
        for shard in (0..self.config.shards).map(ShardIndex) {
            // Also posted to this shard: the publisher may close itself, and its handler has not returned yet.
            let sockets = Dismissal::Sockets { id: topic.clone(), code: CloseCode::GOING_AWAY };
            let message = ShardMessage::Dismiss(sockets);
            out.push(Effect::ToShard { shard, message, class: Class::Control });
        }
    }

    /// Home only: distributes a publication to every shard with members except the one that has served its own already.
    pub(crate) fn distribute(
        &mut self,
        origin: Option<ShardIndex>,
        publication: Arc<Publication>,
        out: &mut Effects,
    ) {
        let (here, class) = (self.config.shard, publication.class());
        if let Some(home) = self.directory.home(&publication.topic) {
            for &shard in home.others().iter().filter(|&&shard| Some(shard) != origin) {
                let message = ShardMessage::Deliver(publication.clone());
                out.push(Effect::ToShard { shard, message, class });
            }
        }
        if origin != Some(here) {
            self.deliver_locally(&publication, None, out);
        }
    }

    /// Queues a publication for this shard's members. The publisher's own client gets its copy at once, so that it
    /// precedes the reply that follows.
    pub(crate) fn deliver_locally(
        &mut self,
        publication: &Arc<Publication>,
        publisher: Option<Publisher>,
        out: &mut Effects,
    ) {
        if let Some(place) = publication.place.as_deref() {
            return self.deliver_in_order(publication, place);
        }
        let Some(id) = self.topic_named(&publication.topic) else { return };
        let (skip, encoded) = match publisher {
            Some(Publisher { slot, excluded: true, .. }) => (Some(slot), None),
            Some(publisher) => {
                let encoded = self.deliver_to_publisher(publisher, id, publication, out);
                (encoded.is_some().then_some(publisher.slot), encoded)
            }
            None => (None, None),
        };
        if self.topics[id.0 as usize].members() == 0 {
            return;
        }
        if !self.enqueue(id, publication.clone(), skip, encoded) {
            self.counters.publications += 1;
            self.counters.publications_dropped += 1;
        }
    }

    /// Queues a publication for the members of a topic. Returns `false` if there is no room.
    pub(crate) fn enqueue(
        &mut self,
        id: TopicId,
        publication: Arc<Publication>,
        skip: Option<u32>,
        encoded: Option<(Dialect, Encoded)>,
    ) -> bool {
        let topic = &mut self.topics[id.0 as usize];
        if !topic.enqueue(&mut self.spare_backlogs, publication, skip, encoded) {
            return false;
        }
        self.note_queued(id);
        true
    }

    /// Like [`Hub::enqueue`], with a sequence that was taken before.
    pub(crate) fn enqueue_as(
        &mut self,
        id: TopicId,
        publication: Arc<Publication>,
        sequence: Sequence,
    ) -> bool {
        let topic = &mut self.topics[id.0 as usize];
        if !topic.enqueue_as(&mut self.spare_backlogs, publication, sequence) {
            return false;
        }
        self.note_queued(id);
        true
    }

    #[inline]
    fn note_queued(&mut self, id: TopicId) {
        let topic = &mut self.topics[id.0 as usize];
        self.counters.publications += 1;
        if !std::mem::replace(&mut topic.active, true) {
            self.active.push(topic.owner, id, topic.members() >= self.config.limits.crowd_members_min);
        }
        self.recount_topic(id);
    }

    /// Delivers the publisher's copy, if it is a member, and returns the encoding, so that the pass need not encode it
    /// again. A channel that intercepts the event gets it from the pass instead.
    fn deliver_to_publisher(
        &mut self,
        Publisher { slot, intercepts, .. }: Publisher,
        id: TopicId,
        publication: &Publication,
        out: &mut Effects,
    ) -> Option<(Dialect, Encoded)> {
        let connection = self.connections.get(slot)?;
        let join = connection.join(id).filter(|join| join.is_joined())?;
        let intercepts = join.channel.as_deref().map_or(intercepts, guard::intercepts);
        if intercepts.contains(&&*publication.event) {
            return None;
        }
        let dialect = connection.dialect();
        let encoded = self.encoder.publication(dialect, publication);
        if let Encoded::Frame(frame) = &encoded {
            let frame = out.share(frame);
            out.deliver([slot], frame);
            self.counters.deliveries += 1;
        } else {
            self.counters.undeliverable += 1;
        }
        Some((dialect, encoded))
    }
}
