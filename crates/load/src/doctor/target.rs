//! Examines a server under test before the run: from outside and, if it runs on the same machine, from inside.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use engine::machine;
use rustls::ClientConfig;

use ::doctor::{HttpAnswer, ProcessFacts, Reading, Resolution, TargetFacts};

use crate::monitor::fetch::{Page, PageAddress, fetch};
use crate::monitor::samples;
use crate::scenario::plan::Target;

/// Time limit of each step: the name lookup, the connect, each page.
const QUESTION_LIMIT: Duration = Duration::from_secs(5);
/// Metrics worth showing before a run.
const METRICS: [&str; 4] =
    ["process_resident_memory_bytes", "process_open_fds", "process_max_fds", "throng_connections_open"];
/// Maximum number of samples kept of those metrics, since a metric may have many.
const SAMPLES_MAX: usize = 8;

/// A server to examine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TargetAddress {
    /// Whether it is reached over TLS.
    pub tls: bool,
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Its process, if it runs on this machine and its id is known.
    pub pid: Option<u32>,
    /// URL of its Prometheus endpoint, if known.
    pub metrics: Option<String>,
}

impl From<&Target> for TargetAddress {
    fn from(target: &Target) -> Self {
        Self { tls: target.tls, host: target.host.clone(), port: target.port, pid: None, metrics: None }
    }
}

impl TargetAddress {
    /// Examines a server: its name, its port, its response, and its process and metrics if they were given. Takes at
    /// most some seconds for each step. `tls` is for `https`; `None` trusts the machine's authorities.
    #[must_use]
    pub fn look(&self, tls: Option<&Arc<ClientConfig>>) -> TargetFacts {
        let resolution = resolve(&self.host, self.port);
        let address = resolution.as_ref().ok().and_then(|resolution| resolution.addresses.first()).copied();
        let connect_us = match address {
            Some(address) => connect(SocketAddr::new(address, self.port)).into(),
            None => Reading::Unknown { unknown: "it has no address".to_owned() },
        };
        let http = match &connect_us {
            Reading::Known(_) => answer(self, tls).into(),
            Reading::Unknown { .. } => Reading::Unknown { unknown: "it cannot be reached".to_owned() },
        };
        TargetFacts {
            host: self.host.clone(),
            port: self.port,
            tls: self.tls,
            resolution: resolution.into(),
            connect_us,
            http,
            process: self.pid.map(|pid| process(pid).into()),
            metrics: self.metrics.as_ref().map(|url| metrics(url, tls).into()),
        }
    }
}

/// Resolves a name within a time limit. The system's resolver can take longer and cannot be cancelled, so its thread is
/// left behind.
fn resolve(host: &str, port: u16) -> io::Result<Resolution> {
    let (sender, answer) = mpsc::channel();
    let host = host.to_owned();
    thread::Builder::new().name("resolver".to_owned()).spawn(move || {
        let start = Instant::now();
        let found = (host.as_str(), port).to_socket_addrs().map(|found| {
            let mut addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
            addresses.dedup();
            Resolution { addresses, time_us: start.elapsed().as_micros() as u64 }
        });
        let _ = sender.send(found);
    })?;
    let found = answer.recv_timeout(QUESTION_LIMIT).map_err(|_late| {
        io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {QUESTION_LIMIT:?}"))
    })??;
    if found.addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    }
    Ok(found)
}

fn connect(address: SocketAddr) -> io::Result<u64> {
    let start = Instant::now();
    TcpStream::connect_timeout(&address, QUESTION_LIMIT)?;
    Ok(start.elapsed().as_micros() as u64)
}

fn answer(target: &TargetAddress, tls: Option<&Arc<ClientConfig>>) -> Result<HttpAnswer, String> {
    let address =
        PageAddress { tls: target.tls, host: target.host.clone(), port: target.port, path: "/".to_owned() };
    let page = page(&address, tls)?;
    Ok(HttpAnswer { status: page.status, server: page.server })
}

fn metrics(url: &str, tls: Option<&Arc<ClientConfig>>) -> Result<Vec<(String, f64)>, String> {
    let page = page(&PageAddress::parse(url)?, tls)?;
    if page.status != 200 {
        return Err(format!("{url} answered with status {}", page.status));
    }
    let text = String::from_utf8_lossy(&page.body);
    let mut figures = Vec::new();
    for sample in samples(&text) {
        let sample = sample.map_err(|error| format!("{url}: {error}"))?;
        if METRICS.contains(&sample.name) && figures.len() < SAMPLES_MAX {
            figures.push((sample.name.to_owned(), sample.value));
        }
    }
    Ok(figures)
}

fn page(address: &PageAddress, tls: Option<&Arc<ClientConfig>>) -> Result<Page, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime to ask with: {error}"))?;
    let page = runtime.block_on(fetch(address, tls, QUESTION_LIMIT)).map_err(|error| error.to_string());
    runtime.shutdown_background();
    page
}

fn process(pid: u32) -> io::Result<ProcessFacts> {
    let usage = machine::process_usage_of(pid)?;
    Ok(ProcessFacts {
        pid,
        name: machine::process_time(pid)?.name,
        rss_bytes: usage.resident_bytes,
        threads: usage.threads,
        descriptors: machine::open_descriptors(pid).into(),
        descriptor_limit: machine::descriptor_limit_of(pid).map(|limit| limit.soft).into(),
    })
}
