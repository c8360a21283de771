//! The life of a running server: reloads, then an orderly shutdown. Runs on the main thread.

use crate::config::ShutdownConfig;
use crate::health::Readiness;
use crate::signals::Request;
use crate::tls::Certificates;
use gateway::{Handle, Running};
use std::io;
use std::process;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// How often certificate files are checked. A change takes effect after two checks.
const CERTIFICATE_LOOK: Duration = Duration::from_secs(2);
/// The exit code of a process that was asked a second time to end.
const EXIT_CUT_SHORT: i32 = 1;

/// Waits for a request to end, announces it, drains the connections, and returns when all are closed.
pub(crate) fn until_ended(
    running: Running,
    mut certificates: Option<Certificates>,
    readiness: &Readiness,
    mut requests: UnboundedReceiver<Request>,
    shutdown: ShutdownConfig,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        serve_requests(&mut requests, certificates.as_mut()).await;
        readiness.set(false);
        let handle = running.handle();
        tokio::select! {
            () = end(&handle, shutdown) => {}
            () = asked_to_end(&mut requests) => {
                tracing::warn!("second request to stop: exiting immediately");
                process::exit(EXIT_CUT_SHORT);
            }
        }
    });
    running.handle().stop();
    tracing::info!("ended");
    Ok(())
}

/// Shuts down. Load balancers first notice that the server is not ready; otherwise they would send clients back here.
async fn end(handle: &Handle, shutdown: ShutdownConfig) {
    if !shutdown.notice.is_zero() {
        tracing::info!("no longer ready; connections will be closed in {:?}", shutdown.notice);
        tokio::time::sleep(shutdown.notice).await;
    }
    let metrics = handle.metrics();
    // A polling client counts as one connection, whatever it polls through: its session is ended like a socket is
    // closed.
    let connections = metrics.connections_open + metrics.longpoll_sessions;
    let spread = spread(connections, shutdown);
    tracing::info!("closing {connections} connections over {spread:?}");
    handle.drain(spread).await;
}

/// Returns the time over which connections are closed.
fn spread(connections: u64, shutdown: ShutdownConfig) -> Duration {
    let at_the_rate = |per_second: u64| Duration::from_millis(connections.saturating_mul(1000) / per_second);
    shutdown.closes_per_second.map_or(Duration::ZERO, at_the_rate).max(shutdown.spread)
}

/// Reloads certificates on request and when their files change, until a request to end.
async fn serve_requests(
    requests: &mut UnboundedReceiver<Request>,
    mut certificates: Option<&mut Certificates>,
) {
    let mut look = tokio::time::interval(CERTIFICATE_LOOK);
    loop {
        tokio::select! {
            request = requests.recv() => match request {
                Some(Request::Reload) => reload(certificates.as_deref()),
                Some(Request::End) | None => return,
            },
            _ = look.tick(), if certificates.is_some() => {
                if certificates.as_deref_mut().is_some_and(Certificates::changed) {
                    reload(certificates.as_deref());
                }
            }
        }
    }
}

async fn asked_to_end(requests: &mut UnboundedReceiver<Request>) {
    while let Some(request) = requests.recv().await {
        if request == Request::End {
            return;
        }
    }
    std::future::pending().await
}

fn reload(certificates: Option<&Certificates>) {
    match certificates.map(Certificates::reload) {
        None => tracing::info!("nothing to reload: TLS is off"),
        Some(Ok(())) => tracing::info!("the certificate was reloaded"),
        Some(Err(error)) => tracing::error!(
            "the certificate could not be reloaded, and the old one stays in use: \
             {error}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_closed_no_faster_than_the_rate_and_the_spread_allow() {
        let shutdown = |closes_per_second| ShutdownConfig {
            notice: Duration::ZERO,
            spread: Duration::from_secs(5),
            closes_per_second,
        };
        for (connections, rate, seconds) in
            [(10_000, None, 5), (10_000, Some(1000), 10), (100, Some(1000), 5), (0, Some(1), 5)]
        {
            assert_eq!(spread(connections, shutdown(rate)), Duration::from_secs(seconds));
        }
    }
}
