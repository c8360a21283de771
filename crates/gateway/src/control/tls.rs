//! Accepts TLS connections. Handshakes are too expensive for a shard.

use super::stream::ControlStream;
use super::timed_stream::TimedStream;
use super::{Control, RemotePeer, TlsListener, announced, http};
use crate::admission::Visit;
use crate::handshake::Rejection;
use crate::life::Stage;
use crate::metrics::PROXY_PROTOCOL;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::TlsAcceptor;

/// How long accepting pauses when descriptors have run out: nothing notifies this thread when one is free again.
const EXHAUSTED_REST: Duration = Duration::from_millis(100);

/// Accepts until the gateway drains.
pub(super) async fn accept(control: Arc<Control>, tls: TlsListener) {
    let TlsListener { listener, config, announced } = tls;
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the TLS listener cannot be used"),
    };
    let acceptor = TlsAcceptor::from(config);
    loop {
        let accepted = tokio::select! {
            accepted = accept_one(&control, &listener) => accepted,
            () = control.life.reached(Stage::Draining) => return,
        };
        match accepted {
            Ok((place, stream, remote)) => {
                let (control, acceptor) = (control.clone(), acceptor.clone());
                tokio::spawn(async move {
                    serve(control, acceptor, stream, remote, announced).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a TLS connection could not be accepted");
                tokio::time::sleep(EXHAUSTED_REST).await;
            }
        }
    }
}

/// Accepts a connection when there is a permit for it; the others wait in the kernel.
async fn accept_one(
    control: &Control,
    listener: &tokio::net::TcpListener,
) -> io::Result<(OwnedSemaphorePermit, TcpStream, SocketAddr)> {
    let place = control.places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, remote) = listener.accept().await?;
    Ok((place, stream, remote))
}

async fn serve(
    control: Arc<Control>,
    acceptor: TlsAcceptor,
    stream: TcpStream,
    proxy_or_client: SocketAddr,
    announced: bool,
) {
    let time_max = control.shared.limits.handshake_time_max;
    let mut remote = proxy_or_client;
    if announced {
        let client = announced::client(&control.shared.proxies, &stream, remote);
        let Ok(Ok(client)) = tokio::time::timeout(time_max, client).await else {
            return control.reject(PROXY_PROTOCOL);
        };
        remote = client;
    }
    let visit = match let_in(&control, remote) {
        Ok(visit) => visit,
        // Boxed: otherwise every accepted connection would reserve room for a refusal.
        Err(why) => return Box::pin(control.refuse_by_tls(&acceptor, stream, &why)).await,
    };
    // A failure here costs latency, not correctness.
    let _ = stream.set_nodelay(true);
    let handshake = tokio::time::timeout(time_max, acceptor.accept(TimedStream::new(stream)));
    let Ok(Ok(stream)) = handshake.await else { return control.reject("tls") };
    let peer = RemotePeer { address: remote, secure: true };
    http::serve(control, ControlStream::tls(stream), peer, visit).await;
}

/// Decides on a new connection before its handshake.
fn let_in(control: &Control, remote: SocketAddr) -> Result<Visit, Rejection> {
    if control.shared.allowance.is_used_up() {
        return Err(Rejection::memory());
    }
    let visit = control.visit(remote, |admission| admission.enter(remote)).map_err(Rejection::excess)?;
    // Last, so that a connection that is refused for its own address does not consume a token.
    if control.shared.pace.as_ref().is_some_and(|pace| !pace.admits()) {
        return Err(Rejection::too_fast());
    }
    Ok(visit)
}
