//! Asking Prometheus endpoints once a second, on a thread of their own.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use tokio::sync::watch;

use super::fetch::{PageAddress, fetch};
use super::figure::{Figures, Scraped};
use super::own::share;
use super::rows::Rows;

/// How long an endpoint may take. The next scrape begins with the second after the answer.
pub(super) const SCRAPE_LIMIT: Duration = Duration::from_millis(2_500);

/// One endpoint.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// Place among the servers of a row.
    pub(super) server: usize,
    pub(super) address: PageAddress,
}

/// The thread that scrapes.
#[derive(Debug)]
pub(super) struct Scraping {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl Scraping {
    pub(super) fn start(
        endpoints: Vec<Endpoint>,
        figures: Figures,
        tls: Option<Arc<ClientConfig>>,
        rows: Arc<Rows>,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = watch::channel(false);
        let scrape_all = move || {
            engine::ask_for_short_turns();
            let figures = Arc::new(figures);
            runtime.block_on(async {
                let mut tasks = tokio::task::JoinSet::new();
                for endpoint in endpoints {
                    let (figures, tls) = (Arc::clone(&figures), tls.clone());
                    let (rows, mut stopped) = (Arc::clone(&rows), stopped.clone());
                    tasks.spawn(async move {
                        tokio::select! {
                            () = scrape(&endpoint, &figures, tls.as_ref(), &rows) => {}
                            _ = stopped.wait_for(|stopped| *stopped) => {}
                        }
                    });
                }
                while tasks.join_next().await.is_some() {}
            });
            // A name may still be looked up; nobody waits for it.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("scrape".to_owned()).spawn(scrape_all)?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread, whatever the endpoints are doing.
    pub(super) fn stop(self) {
        self.stop.send_replace(true);
        // A thread that panicked has told so on standard error, and its servers' rows stay unknown.
        let _ = self.thread.join();
    }
}

/// Asks one endpoint each second, without end.
async fn scrape(endpoint: &Endpoint, figures: &Figures, tls: Option<&Arc<ClientConfig>>, rows: &Rows) {
    let mut cpu = CpuGauge::default();
    let mut next = rows.beginning_of(rows.second_of(Instant::now()));
    loop {
        tokio::time::sleep_until(next.into()).await;
        let outcome = page(endpoint, figures, tls).await;
        let now = Instant::now();
        match outcome {
            Ok(scraped) => {
                let used = scraped.cpu_seconds.and_then(|seconds| cpu.advance(now, seconds));
                rows.enter_scrape(now, endpoint.server, scraped, used);
            }
            Err(error) => rows.enter_failure(now, endpoint.server, error),
        }
        next = rows.beginning_of(rows.second_of(now).saturating_add(1));
    }
}

async fn page(
    endpoint: &Endpoint,
    figures: &Figures,
    tls: Option<&Arc<ClientConfig>>,
) -> Result<Scraped, String> {
    let page = fetch(&endpoint.address, tls, SCRAPE_LIMIT).await.map_err(|error| error.to_string())?;
    if page.status != 200 {
        return Err(format!("returned status {}", page.status));
    }
    let text = std::str::from_utf8(&page.body).map_err(|_| "the page is not UTF-8".to_owned())?;
    figures.keep(text).map_err(|error| error.to_string())
}

/// Turns a counter of CPU seconds into cores.
#[derive(Debug, Default)]
struct CpuGauge {
    last: Option<(Instant, f64)>,
}

impl CpuGauge {
    /// The cores since the last time; `None` the first time, and when the counter began anew.
    fn advance(&mut self, now: Instant, seconds: f64) -> Option<f64> {
        let (before, earlier) = self.last.replace((now, seconds))?;
        let used = Duration::try_from_secs_f64(seconds - earlier).ok()?;
        let elapsed = now.saturating_duration_since(before);
        (!elapsed.is_zero()).then(|| share(used, elapsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_the_growth_of_its_counter() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut gauge = CpuGauge::default();
        assert_eq!(gauge.advance(after(0), 100.0), None);
        assert_eq!(gauge.advance(after(2), 103.0), Some(1.5));
        assert_eq!(gauge.advance(after(3), 0.5), None, "the server was restarted");
        assert_eq!(gauge.advance(after(4), 0.75), Some(0.25));
        assert_eq!(gauge.advance(after(4), 0.75), None);
    }
}
