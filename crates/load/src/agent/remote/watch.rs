//! The thread that serves one agent during a run: passes on orders, handles its messages, and records how it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::super::clock::Offset;
use super::super::controller::{Connected, measure};
use super::super::link::LinkError;
use super::super::logs::Kept;
use super::super::protocol::{BEAT, End, FromAgent, FromController, Progress, SILENCE_MAX};
use super::super::totals::Lost;
use super::shared::{Shared, lock};
use crate::observe::{Kind, Nanos, Outcome};
use crate::statistics::ErrorExample;

/// How long each attempt to receive a message waits.
const INTERVAL: Duration = Duration::from_millis(20);

/// The outcome of one agent.
pub(super) struct Outcomes {
    pub(super) address: String,
    pub(super) offset: Offset,
    pub(super) end: Result<End, Loss>,
    /// Why its event log is incomplete here, if it was transferred and is.
    pub(super) log_loss: Option<String>,
}

/// How an agent was lost.
pub(super) struct Loss {
    why: LinkError,
    pub(super) after: Duration,
    who: Lost,
}

impl Loss {
    /// Returns a text that says which agent was lost and what was lost with it.
    pub(super) fn told(&self, address: &str) -> String {
        let Lost { users, connected, deliveries } = self.who;
        format!(
            "agent {address} was lost after {:.1} s ({}): {users} of its users were active, {connected} of \
             them connected; the outcome of {deliveries} deliveries to them is unknown",
            self.after.as_secs_f64(),
            self.why
        )
    }
}

/// The state of the thread.
pub(super) struct Watch {
    pub(super) index: usize,
    pub(super) agent: Connected,
    pub(super) orders: Receiver<FromController>,
    pub(super) shared: Arc<Shared>,
    pub(super) start: Instant,
    pub(super) epoch: Instant,
    pub(super) probed: Instant,
    /// Stores the agent's event log as it arrives.
    pub(super) kept: Option<Kept>,
}

impl Watch {
    /// Runs until the agent has ended or is lost.
    pub(super) fn run(mut self) -> Outcomes {
        let end = self.go_on().map_err(|why| {
            self.shared.agents_lost.fetch_add(1, Ordering::Relaxed);
            let after = self.start.elapsed();
            let mut totals = lock(&self.shared.totals);
            let loss = Loss { why, after, who: totals.lose(self.index, self.now()) };
            let (text, kind, outcome) = (loss.told(&self.agent.address), Kind::Finish, Outcome::AgentLost);
            lock(&self.shared.examples).add_own(ErrorExample { kind, outcome, code: 0, text });
            loss
        });
        let words = lock(&self.shared.rendezvous).goes(self.index, self.now());
        self.shared.tell_words(words);
        if let Some(progress) = self.shared.progress.get(self.index) {
            *lock(progress) = Progress { draining: true, over: true, ..Progress::default() };
        }
        let log_loss = self.kept.and_then(|kept| kept.loss);
        Outcomes { address: self.agent.address, offset: self.agent.offset, end, log_loss }
    }

    /// Returns nanoseconds since the run's start, by the controller's clock.
    fn now(&self) -> Nanos {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn go_on(&mut self) -> Result<End, LinkError> {
        loop {
            if self.shared.gone.load(Ordering::Relaxed) {
                return Err(LinkError::Closed);
            }
            while let Ok(order) = self.orders.try_recv() {
                self.agent.link.send(&order)?;
            }
            if self.probed.elapsed() >= BEAT {
                self.probed = Instant::now();
                // The answer is not used as a measurement; the exchange shows that both sides are alive.
                self.agent.link.send(&FromController::Probe { number: u64::MAX })?;
            }
            match self.agent.link.receive(INTERVAL)? {
                Some(message) => {
                    if let Some(end) = self.hear(message)? {
                        return Ok(end);
                    }
                }
                None if self.agent.link.silent_for() > SILENCE_MAX => {
                    return Err(LinkError::Silent(SILENCE_MAX));
                }
                None => {}
            }
        }
    }

    fn hear(&mut self, message: FromAgent) -> Result<Option<End>, LinkError> {
        match message {
            FromAgent::Examples(told) => {
                lock(&self.shared.examples).add(told);
                Ok(None)
            }
            FromAgent::Part(part) => {
                lock(&self.shared.totals).add(self.index, *part);
                Ok(None)
            }
            FromAgent::Progress(now) => {
                if let Some(progress) = self.shared.progress.get(self.index) {
                    *lock(progress) = now;
                }
                Ok(None)
            }
            FromAgent::Clock { .. } => Ok(None),
            FromAgent::Standing(standing) => {
                let words = lock(&self.shared.rendezvous).stands(self.index, standing, self.now());
                self.shared.tell_words(words);
                Ok(None)
            }
            FromAgent::Published(publications) => {
                let words = lock(&self.shared.rendezvous).published(self.index, publications, self.now());
                self.shared.tell_words(words);
                Ok(None)
            }
            FromAgent::Log { name, bytes } => {
                if let Some(kept) = &mut self.kept {
                    kept.add(&name, &bytes);
                }
                Ok(None)
            }
            FromAgent::End(mut end) => {
                lock(&self.shared.examples).add(std::mem::take(&mut end.examples));
                lock(&self.shared.totals).add(self.index, std::mem::take(&mut end.rest));
                // The clocks may have drifted since the start. If the agent disconnects now, it has already sent
                // everything else.
                if let Ok(later) = measure(&mut self.agent.link, self.epoch) {
                    self.agent.offset = self.agent.offset.checked_by(later);
                }
                Ok(Some(*end))
            }
            FromAgent::Failed { reason } => Err(LinkError::GaveUp(reason)),
            FromAgent::Welcome(_)
            | FromAgent::Refused(_)
            | FromAgent::Ready(_)
            | FromAgent::Started { .. } => {
                Err(LinkError::Garbled("unexpected message from an agent".to_owned()))
            }
        }
    }
}
