//! Scrapes Prometheus endpoints once a second, on a separate thread.

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

/// Time limit of one scrape. The next scrape starts with the second after the response.
pub(super) const SCRAPE_LIMIT: Duration = Duration::from_millis(2_500);

/// One endpoint.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// Index among the servers of a row.
    pub(super) server: usize,
    pub(super) address: PageAddress,
}

/// The scraping thread.
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
            engine::TimeSlices::Short.request();
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
            // A name lookup may still be running; do not wait for it.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("scrape".to_owned()).spawn(scrape_all)?;
        Ok(Self { stop, thread })
    }

    /// Stops the thread, whatever the endpoints are doing.
    pub(super) fn stop(self) {
        self.stop.send_replace(true);
        // If the thread panicked, its message is on standard error, and its servers' rows stay unknown.
        let _ = self.thread.join();
    }
}

/// Scrapes one endpoint each second, forever.
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

/// Converts a counter of CPU seconds to cores.
#[derive(Debug, Default)]
struct CpuGauge {
    last: Option<(Instant, f64)>,
}

impl CpuGauge {
    /// Returns the cores used since the last call; `None` on the first call and when the counter was reset.
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
