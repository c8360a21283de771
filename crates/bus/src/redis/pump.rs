//! Sends the requests that wait for one instance in batches, and handles the answers.

use super::answers;
use super::commands::{Question, encode};
use super::instance::Instance;
use super::leases::Leases;
use super::own_lease::renew;
use crate::failure::Failure;
use crate::queue::{Batch, QueueReceiver};
use crate::session::SessionContext;
use std::sync::Arc;
use tokio::time::{MissedTickBehavior, interval};

pub(crate) struct Pump {
    pub(crate) index: usize,
    pub(crate) instance: Instance,
    pub(crate) queue: QueueReceiver,
    pub(crate) leases: Arc<Leases>,
    pub(crate) context: SessionContext,
}

impl Pump {
    /// Runs until a failure.
    pub(crate) async fn run(mut self) -> Failure {
        let inbox = self.instance.inbox.clone();
        let mut renewal = interval(self.context.times.lease_interval);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let (mut batch, mut is_renewal) = (Batch::empty(), true);
            tokio::select! {
                biased;
                () = inbox.lost.notified() => return Failure::Unreachable("the connection was closed".to_owned()),
                () = inbox.moved.notified() => return Failure::Moved("a subscription was cancelled by the server".to_owned()),
                _ = renewal.tick() => {}
                () = inbox.nodes_changed.notified() => {}
                next = self.queue.next() => match next {
                    Some(next) => (batch, is_renewal) = (next, false),
                    // The session is over.
                    None => return std::future::pending().await,
                },
            }
            if let Err(failure) = self.exchange(batch, is_renewal).await {
                return failure;
            }
        }
    }

    async fn exchange(&mut self, batch: Batch, is_renewal: bool) -> Result<(), Failure> {
        let (mut commands, mut questions) = (Vec::new(), Vec::new());
        if is_renewal {
            commands.push(renew(&self.instance, &self.context));
            questions.push(Question::Lease);
        }
        let amount = batch.amount();
        for request in batch.requests {
            encode(&self.instance, &self.context, request, &mut commands, &mut questions);
        }
        let answers = self.instance.send(commands).await;
        self.queue.done(&self.context, amount);
        let mut answers = answers?.into_iter();
        for question in questions {
            if let Some(standing) =
                answers::tell(&self.context, &self.instance.inbox, question, &mut answers)?
            {
                self.leases.stand(self.index, standing);
                self.leases.tell(&self.context);
            }
        }
        Ok(())
    }
}
