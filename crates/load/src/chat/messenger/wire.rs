//! The client's connection, one at a time, on a thread of its own: it knows no protocol above the WebSocket's.

use std::sync::{Arc, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::chat::address::Address;
use crate::chat::link::Link;
use crate::chat::session::SessionError;
use crate::player::client_config;
use crate::scenario::plan::TlsTrust;

/// How many orders may wait for the thread. Past it the client's connection counts as lost.
const ORDERS_MAX: usize = 2048;
/// How much may wait to be shown; then the server waits, too.
const INCOMING_MAX: usize = 1024;
/// For the server's part of the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// What a client's owner waits for.
#[derive(Debug)]
pub(super) enum Incoming {
    Opened,
    Text(String),
    /// The connection is gone, or there is none.
    Lost(String),
}

enum Order {
    /// Begins a connection, with this path and query.
    Open(String),
    Say(String),
    /// Ends the connection, for that reason.
    Close(String),
}

/// The way to the thread. It ends when this is dropped.
pub(super) struct Wire {
    orders: mpsc::Sender<Order>,
    _running: oneshot::Sender<()>,
}

impl Wire {
    /// The thread waits for its first order.
    pub(super) fn begin(
        address: Address,
        trust: &TlsTrust,
    ) -> Result<(Self, std_mpsc::Receiver<Incoming>), SessionError> {
        let tls = match address.secure {
            true => Some(client_config(trust).map_err(SessionError::Trust)?),
            false => None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(SessionError::Thread)?;
        let (orders, to_do) = mpsc::channel(ORDERS_MAX);
        let (tell, told) = std_mpsc::sync_channel(INCOMING_MAX);
        let (running, dropped) = oneshot::channel();
        let driver = Driver { address, tls, orders: to_do, tell };
        let drive = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = driver.run() => {}
                    _ = dropped => {}
                }
            });
        };
        thread::Builder::new().name("chat".into()).spawn(drive).map_err(SessionError::Thread)?;
        Ok((Self { orders, _running: running }, told))
    }

    pub(super) fn open(&self, target: String) -> bool {
        self.orders.try_send(Order::Open(target)).is_ok()
    }

    pub(super) fn say(&self, text: String) -> bool {
        self.orders.try_send(Order::Say(text)).is_ok()
    }

    pub(super) fn close(&self, reason: String) -> bool {
        self.orders.try_send(Order::Close(reason)).is_ok()
    }
}

struct Driver {
    address: Address,
    tls: Option<Arc<rustls::ClientConfig>>,
    orders: mpsc::Receiver<Order>,
    tell: std_mpsc::SyncSender<Incoming>,
}

impl Driver {
    async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            match order {
                Order::Open(target) => {
                    let address = Address { target, ..self.address.clone() };
                    let reason = match Link::open(&address, self.tls.clone()).await {
                        Ok(link) => self.keep(link).await,
                        Err(error) => error.to_string(),
                    };
                    if !self.tell(Incoming::Lost(reason)) {
                        return;
                    }
                }
                // Of a connection that is gone.
                Order::Say(_) | Order::Close(_) => {}
            }
        }
    }

    /// Why it ended.
    async fn keep(&mut self, mut link: Link) -> String {
        self.tell(Incoming::Opened);
        loop {
            tokio::select! {
                heard = link.receive() => match heard {
                    Ok(text) => drop(self.tell(Incoming::Text(text))),
                    Err(error) => return error.to_string(),
                },
                order = self.orders.recv() => match order {
                    Some(Order::Say(text)) => {
                        if let Err(error) = link.say(&text).await {
                            return error.to_string();
                        }
                    }
                    Some(Order::Close(reason)) => {
                        let closing = async {
                            link.close().await?;
                            loop {
                                link.receive().await?;
                            }
                        };
                        // Whatever ends it now is the end that was wished for.
                        let _ended: Result<Result<(), crate::chat::link::LinkError>, _> =
                            tokio::time::timeout(CLOSE_TIMEOUT, closing).await;
                        return reason;
                    }
                    // One connection at a time.
                    Some(Order::Open(_)) => {}
                    None => return String::new(),
                },
            }
        }
    }

    /// `false` when the owner listens no more, and is about to end this.
    fn tell(&self, incoming: Incoming) -> bool {
        self.tell.send(incoming).is_ok()
    }
}
