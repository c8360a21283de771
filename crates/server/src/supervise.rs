//! The life of a running server: reloads, then an orderly end. Runs on the main thread.

use crate::health::Readiness;
use crate::signals::Request;
use crate::tls::Certificates;
use gateway::Running;
use std::io;
use std::process;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// How often certificate files are looked at. A change takes effect after two looks.
const CERTIFICATE_LOOK: Duration = Duration::from_secs(2);
/// The exit code of a process that was told a second time to end.
const EXIT_CUT_SHORT: i32 = 1;

/// Waits for a request to end, drains the connections over `spread`, and returns when all are closed.
pub(crate) fn until_ended(
    running: Running,
    mut certificates: Option<Certificates>,
    readiness: &Readiness,
    mut requests: UnboundedReceiver<Request>,
    spread: Duration,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        serve_requests(&mut requests, certificates.as_mut()).await;
        readiness.set(false);
        let handle = running.handle();
        tracing::info!("closing {} connections over {spread:?}", handle.metrics().connections_open);
        tokio::select! {
            () = handle.drain(spread) => {}
            () = asked_to_end(&mut requests) => {
                tracing::warn!("asked a second time to end: ending at once");
                process::exit(EXIT_CUT_SHORT);
            }
        }
    });
    running.handle().stop();
    tracing::info!("ended");
    Ok(())
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
        Some(Err(error)) => tracing::error!("the certificate was not reloaded, the old one stays: {error}"),
    }
}
