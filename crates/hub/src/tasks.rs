//! Routes the answers of tasks to the joins that wait for them.

use crate::channel::{Answer, Ended, Info};
use crate::effect::Effects;
use crate::guard;
use crate::hub::Hub;
use crate::ids::{ConnectionKey, JoinInstance, Ticket, TopicId};
use crate::join::Join;
use proto::phoenix::Ref;

/// The owner of a task. An answer for a join that has ended is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskOwner {
    pub(crate) key: ConnectionKey,
    pub(crate) instance: JoinInstance,
    pub(crate) purpose: Purpose,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The answer decides on the join.
    Join,
    /// The channel handles nothing until the answer arrives.
    Hold,
    /// The answer is an ordinary message for the channel.
    Info,
}

impl Hub {
    pub(crate) fn task_owner(&self, slot: u32, instance: JoinInstance, purpose: Purpose) -> TaskOwner {
        let key = self.connections.key_of(slot).unwrap_or(ConnectionKey { slot, generation: 0 });
        TaskOwner { key, instance, purpose }
    }

    pub(crate) fn answer(&mut self, owner: TaskOwner, answer: Answer, out: &mut Effects) {
        let slot = owner.key.slot;
        let Some(topic) = self.connections.topic_of(owner.key, owner.instance) else {
            return guard::discard(answer);
        };
        if owner.purpose != Purpose::Join
            && let Some(join) = self.connections.join_mut(slot, topic)
        {
            join.extra().tasks -= 1;
        }
        match (owner.purpose, answer) {
            (Purpose::Join, Answer::Finished(info)) => {
                let decision =
                    self.call(slot, topic, Ref::NULL, out, |channel, cx| channel.join_answered(cx, info));
                self.decide(slot, topic, decision, out);
            }
            (Purpose::Join, Answer::Panicked) => self.decide(slot, topic, None, out),
            (Purpose::Hold | Purpose::Info, Answer::Panicked) => {
                self.end_join(slot, topic, Ended::Failed, out)
            }
            (Purpose::Info, Answer::Finished(info)) => self.inform(slot, topic, info, out),
            (Purpose::Hold, Answer::Finished(info)) => {
                let ticket = self.connections.join_mut(slot, topic).map_or(Ticket::NONE, Join::release);
                self.taken(slot, ticket, out);
                self.inform(slot, topic, info, out);
            }
        }
        self.settle(slot, topic);
        self.resume(owner.key, out);
    }

    fn inform(&mut self, slot: u32, topic: TopicId, info: Info, out: &mut Effects) {
        self.call(slot, topic, Ref::NULL, out, |channel, cx| channel.handle_info(cx, info));
    }
}
