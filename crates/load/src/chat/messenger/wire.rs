//! The client's connection, one at a time, on its own thread. It knows no protocol above WebSocket.

use std::sync::{Arc, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::chat::address::Address;
use crate::chat::link::Link;
use crate::chat::session::SessionError;
use crate::player::client_config;
use crate::scenario::plan::TlsTrust;

/// Maximum number of orders queued for the thread. Beyond it the client treats the connection as lost.
const ORDERS_MAX: usize = 2048;
/// Maximum number of received messages queued for display; beyond it reading stops, which applies backpressure to the
/// server.
const INCOMING_MAX: usize = 1024;
/// Timeout for the server's part of the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Events for the owner of a client.
#[derive(Debug)]
pub(super) enum Incoming {
    Opened,
    Text(String),
    /// The connection is gone, or could not be opened.
    Lost(String),
}

enum Order {
    /// Opens a connection with this path and query.
    Open(String),
    Say(String),
    /// Closes the connection for this reason.
    Close(String),
}

/// The handle to the thread, which ends when this is dropped.
pub(super) struct Wire {
    orders: mpsc::Sender<Order>,
    _running: oneshot::Sender<()>,
}

impl Wire {
    /// Starts the thread, which waits for its first order.
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
                // Meant for a connection that is gone.
                Order::Say(_) | Order::Close(_) => {}
            }
        }
    }

    /// Serves a connection; returns why it ended.
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
                        // However the connection ends now, the requested close is the reason.
                        let _ended: Result<Result<(), crate::chat::link::LinkError>, _> =
                            tokio::time::timeout(CLOSE_TIMEOUT, closing).await;
                        return reason;
                    }
                    // Ignored: there is one connection at a time.
                    Some(Order::Open(_)) => {}
                    None => return String::new(),
                },
            }
        }
    }

    /// Returns `false` if the owner no longer listens and is about to drop this.
    fn tell(&self, incoming: Incoming) -> bool {
        self.tell.send(incoming).is_ok()
    }
}
