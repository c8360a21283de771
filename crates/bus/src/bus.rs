//! Runs one session with the engine after the other, for as long as the node runs.

use crate::address::Address;
use crate::backoff::Backoff;
use crate::engine::Engine;
use crate::losses::Losses;
use crate::port::Port;
use crate::requests::Requests;
use crate::session::SessionContext;
use crate::settings::{BadSettings, Settings};
use crate::status::Status;
use crate::times::Times;
use hub::{BusEvent, Histories};
use std::net::SocketAddr;

/// The bus of one node.
pub struct Bus {
    engine: Engine,
    histories: Histories,
    announced: Option<SocketAddr>,
    times: Times,
    shown: String,
    status: Status,
}

impl Bus {
    /// Creates a bus without a connection.
    pub fn new(settings: Settings) -> Result<Bus, BadSettings> {
        let shown: Vec<String> = settings.instances.iter().map(Address::to_string).collect();
        let Settings { instances, prefix, certificate_authority, histories, announced, times } = settings;
        let engine = Engine::new(instances, &prefix, certificate_authority)?;
        let (shown, status) = (shown.join(", "), Status::new());
        Ok(Bus { engine, histories, announced, times, shown, status })
    }

    /// Returns the status, which is updated while the bus runs.
    pub fn status(&self) -> Status {
        self.status.clone()
    }

    /// Runs until no hub is left. An engine that is away is retried forever.
    pub async fn run(self, port: Port) {
        let Bus { engine, histories, announced, times, shown, status } = self;
        let (mut whole, requests) = SessionContext::new(port, status.numbers().clone(), histories, times);
        let mut requests = Requests::new(requests, Losses::new(status.numbers().clone()));
        if let (Some(listening), Some(announced)) = (&mut whole.listening, announced) {
            listening.address = announced;
        }
        let mut backoff = Backoff::default();
        loop {
            let context = whole.for_session();
            let Some(opened) = requests.discarding(engine.open(&context)).await else { return };
            let failure = match opened {
                Ok(session) => {
                    backoff.reset();
                    status.up();
                    tracing::info!("connected to the bus {shown}");
                    context.tell(BusEvent::Up);
                    requests.begin();
                    let Some(failure) = session.serve(&context, &mut requests).await else { return };
                    requests.pause();
                    context.close();
                    whole.tell(BusEvent::Down);
                    failure
                }
                Err(failure) => failure,
            };
            if status.away(&failure) {
                tracing::warn!("the bus {shown} is unavailable: {failure}");
            }
            let wait = tokio::time::sleep(backoff.next(random()));
            if requests.discarding(wait).await.is_none() {
                return;
            }
        }
    }
}

fn random() -> u32 {
    // Without random numbers all nodes reconnect at the same time, which is better than not at all.
    getrandom::u32().unwrap_or_default()
}
