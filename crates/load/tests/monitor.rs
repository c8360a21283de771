//! The monitor against real servers and processes, including faulty ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use load::doctor::{Reading, TargetAddress};
use load::monitor::{GeneratorSamples, Monitor, MonitorConfig, MonitorError, MonitorRow, SERVERS_MAX};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// Time limit for everything here; far more than needed.
const DEADLINE: Duration = Duration::from_secs(60);
/// Number of seconds whose rows are searched.
const SECONDS: u32 = 60;

const PAGE: &str = "process_resident_memory_bytes 1048576\nprocess_cpu_seconds_total 4.5\nprocess_open_fds 12\n\
                    throng_connections_open 1000\nthrong_joined{kind=\"a\"} 3\nthrong_joined{kind=\"b\"} 4\n";

/// Starts a server on its own port that answers each request with `answer`, which gets the number of the request from
/// 0. It runs until the test ends.
fn serve(answer: impl Fn(&mut dyn Write, u64) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for (number, stream) in (0..).zip(listener.incoming()) {
            let Ok(mut stream) = stream else { return };
            read_request(&stream);
            answer(&mut stream, number);
        }
    });
    address
}

fn read_request(stream: impl Read) {
    for line in BufReader::new(stream).lines() {
        if line.is_ok_and(|line| !line.is_empty()) {
            continue;
        }
        return;
    }
}

fn respond(out: &mut dyn Write, status: &str, body: &str) {
    // The peer may have disconnected in the meantime.
    let _ = write!(out, "HTTP/1.1 {status}\r\nServer: tiny\r\nContent-Length: {}\r\n\r\n{body}", body.len());
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}/metrics")
}

/// Waits until a row satisfies a predicate.
fn row_with(monitor: &Monitor, wish: impl Fn(&MonitorRow) -> bool) -> MonitorRow {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(row) = (0..SECONDS).map(|second| monitor.row(second)).find(|row| wish(row)) {
            return row;
        }
        assert!(Instant::now() < deadline, "no second was as wished");
        thread::park_timeout(Duration::from_millis(20));
    }
}

fn tally(samples: &GeneratorSamples, name: &str) -> (u64, u64, String) {
    let tally = samples.servers.iter().find(|tally| tally.name == name).expect("the server was watched");
    (tally.samples, tally.failed, tally.first_error.clone().unwrap_or_default())
}

#[test]
fn a_server_is_scraped_once_a_second() {
    let server = serve(|out, number| {
        respond(out, "200 OK", &PAGE.replace("4.5", &format!("{:.1}", 4.5 + number as f64 / 4.0)));
    });
    let figures = vec!["throng_joined".to_owned()];
    let config = MonitorConfig { scrapes: vec![url(server)], figures, ..MonitorConfig::new(Instant::now()) };
    let monitor = Monitor::start(config).expect("it can be watched");
    let row = row_with(&monitor, |row| row.servers[0].cpu.is_some());
    let seen = &row.servers[0];
    assert_eq!(seen.name, url(server));
    assert_eq!((seen.rss_bytes, seen.descriptors, seen.connections), (Some(1_048_576), Some(12), Some(1000)));
    assert!(seen.cpu.is_some_and(|cpu| cpu > 0.0 && cpu < 10.0), "{seen:?}");
    assert_eq!(seen.figures, [("throng_joined".to_owned(), 7.0)]);
    assert_eq!(seen.failed_scrapes, 0);
    let samples = monitor.finish();
    assert!(tally(&samples, &url(server)).0 >= 2);
}

#[test]
fn each_way_to_fail_is_counted_and_said_and_disturbs_nobody() {
    let good = serve(|out, _| respond(out, "200 OK", PAGE));
    let broken = serve(|out, _| respond(out, "500 Internal Server Error", "sorry"));
    let garbage = serve(|out, _| respond(out, "200 OK", "<html>\n"));
    let silent = serve(|_, _| {
        // Keeps the connection open and sends nothing for longer than any timeout.
        thread::park_timeout(DEADLINE);
    });
    let huge = serve(|out, _| respond(out, "200 OK", &"a 1\n".repeat(2 * 1024 * 1024)));
    let cut = serve(|out, _| {
        let _ = write!(out, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na 1\n");
    });
    let not_http = serve(|out, _| {
        let _ = write!(out, "220 mail.example ready\r\n");
    });
    let bytes = serve(|out, _| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xfe");
    });
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("it is bound")
    };
    let bad = [
        (broken, "status 500"),
        (garbage, "line 1"),
        (silent, "no answer within"),
        (huge, "longer than"),
        (cut, "cut off"),
        (not_http, "not HTTP"),
        (bytes, "not UTF-8"),
        (closed, "cannot connect"),
    ];
    let scrapes: Vec<String> = [good].into_iter().chain(bad.map(|(address, _)| address)).map(url).collect();
    let config = MonitorConfig { scrapes: scrapes.clone(), ..MonitorConfig::new(Instant::now()) };
    let monitor = Monitor::start(config).expect("they can be watched");
    for (place, url) in scrapes.iter().enumerate().skip(1) {
        let row = row_with(&monitor, |row| row.servers[place].failed_scrapes > 0);
        assert_eq!(row.servers[place].rss_bytes, None, "{url}");
    }
    row_with(&monitor, |row| row.servers[0].connections == Some(1000));
    let notices = monitor.take_notices();
    let samples = monitor.finish();
    for (address, reason) in bad {
        let (succeeded, failed, first_error) = tally(&samples, &url(address));
        assert!(succeeded == 0 && failed > 0, "{address}");
        assert!(first_error.contains(reason), "{address}: {first_error}, not {reason}");
        let said = notices.iter().filter(|notice| notice.starts_with(&url(address))).count();
        assert_eq!(said, 1, "{reason} is said once in {notices:?}");
    }
    assert_eq!(tally(&samples, &url(good)).1, 0);
}

#[test]
fn a_server_that_comes_back_is_sampled_again() {
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    let server = serve(move |out, number| {
        count.store(number + 1, Ordering::Relaxed);
        if number == 0 { respond(out, "503 Service Unavailable", "") } else { respond(out, "200 OK", PAGE) }
    });
    let config = MonitorConfig { scrapes: vec![url(server)], ..MonitorConfig::new(Instant::now()) };
    let monitor = Monitor::start(config).expect("it can be watched");
    row_with(&monitor, |row| row.servers[0].failed_scrapes == 1);
    row_with(&monitor, |row| row.servers[0].connections == Some(1000));
    assert_eq!(tally(&monitor.finish(), &url(server)).1, 1);
    assert!(asked.load(Ordering::Relaxed) >= 2);
}

#[test]
fn a_server_is_scraped_by_tls_with_the_authorities_given() {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .expect("a server's configuration");
    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone()).expect("an authority");
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();

    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let server = Arc::new(server);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer_by_tls(stream, &server);
        }
    });
    let scrapes =
        vec![format!("https://localhost:{port}/metrics"), format!("https://127.0.0.1:{port}/metrics")];
    let config = MonitorConfig {
        scrapes: scrapes.clone(),
        tls: Some(Arc::new(client)),
        ..MonitorConfig::new(Instant::now())
    };
    let monitor = Monitor::start(config).expect("it can be watched");
    row_with(&monitor, |row| row.servers[0].connections == Some(1000));
    row_with(&monitor, |row| row.servers[1].failed_scrapes > 0);
    let samples = monitor.finish();
    assert!(tally(&samples, &scrapes[1]).2.contains("TLS failed"), "the certificate is another name's");
}

fn answer_by_tls(stream: TcpStream, server: &Arc<ServerConfig>) {
    let Ok(connection) = ServerConnection::new(Arc::clone(server)) else { return };
    let mut stream = StreamOwned::new(connection, stream);
    read_request(&mut stream);
    respond(&mut stream, "200 OK", PAGE);
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

#[test]
fn a_process_is_watched_beside_the_generator_until_it_is_gone() {
    let mut child = idle_child();
    let config = MonitorConfig { pids: vec![child.id()], ..MonitorConfig::new(Instant::now()) };
    let monitor = Monitor::start(config).expect("it can be watched");
    let row = row_with(&monitor, |row| row.servers[0].rss_bytes.is_some());
    let name = row.servers[0].name.clone();
    assert!(name.starts_with(&format!("pid {} (", child.id())), "{name}");
    assert!(row.servers[0].cpu.is_some() && row.servers[0].descriptors.is_some(), "{row:?}");
    end(&mut child);
    let deadline = Instant::now() + DEADLINE;
    let notices = loop {
        let notices = monitor.take_notices();
        if !notices.is_empty() {
            break notices;
        }
        assert!(Instant::now() < deadline, "nobody said that the process is gone");
        thread::park_timeout(Duration::from_millis(20));
    };
    assert!(notices.len() == 1 && notices[0].contains("the process is gone"), "{notices:?}");
    let samples = monitor.finish();
    let (succeeded, failed, _) = tally(&samples, &name);
    assert!(succeeded > 0 && failed > 0, "{samples:?}");
}

/// A process that waits for the end of its standard input.
fn idle_child() -> Child {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat starts")
}

fn end(child: &mut Child) {
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}

#[test]
fn the_generators_own_use_is_in_each_second() {
    let monitor = Monitor::start(MonitorConfig::new(Instant::now())).expect("it can watch itself");
    let stop = Arc::new(AtomicU64::new(0));
    let busy = {
        let stop = Arc::clone(&stop);
        thread::Builder::new()
            .name("busy".to_owned())
            .spawn(move || while stop.fetch_add(1, Ordering::Relaxed) < u64::MAX / 2 {})
            .expect("a thread starts")
    };
    let row = row_with(&monitor, |row| row.generator_thread_cpu_max > 0.05);
    assert!(row.generator_cpu > 0.0 && (0.0..=1.0).contains(&row.steal), "{row:?}");
    stop.store(u64::MAX / 2, Ordering::Relaxed);
    busy.join().expect("it ends");
    let samples = monitor.finish();
    assert!(samples.cpu_mean > 0.0 && samples.rss_max_bytes > 0, "{samples:?}");
    let mut facts = load::statistics::GeneratorFacts::default();
    samples.fill(&mut facts);
    assert!(facts.thread_cpu_max > 0.0 && facts.rss_max_bytes == samples.rss_max_bytes);
}

#[test]
fn a_watch_may_begin_before_its_run_and_end_before_it_too() {
    let epoch = Instant::now() + DEADLINE;
    let monitor = Monitor::start(MonitorConfig::new(epoch)).expect("it can watch itself");
    assert_eq!(monitor.row(0), MonitorRow::default());
    monitor.finish();
    assert!(Instant::now() < epoch);
}

#[test]
fn what_cannot_be_watched_at_all_is_refused_at_the_start() {
    type Edit = fn(&mut MonitorConfig);
    let cases: [(Edit, &str); 4] = [
        (|config| config.pids = vec![u32::MAX], "process 4294967295 cannot be watched"),
        (|config| config.scrapes = vec!["localhost".to_owned()], "give the whole URL"),
        (|config| config.figures = vec!["1up".to_owned()], "is not a metric"),
        (|config| config.pids = vec![1; SERVERS_MAX + 1], "too many"),
    ];
    for (edit, expected) in cases {
        let mut config = MonitorConfig::new(Instant::now());
        edit(&mut config);
        let error: MonitorError = Monitor::start(config).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_doctor_looks_at_a_server_from_outside_and_inside() {
    let server = serve(|out, _| respond(out, "200 OK", PAGE));
    let mut child = idle_child();
    let target = TargetAddress {
        host: "127.0.0.1".to_owned(),
        port: server.port(),
        pid: Some(child.id()),
        metrics: Some(url(server)),
        tls: false,
    };
    let facts = target.look(None);
    end(&mut child);
    assert_eq!(facts.address(), Some(server.ip()));
    assert!(facts.connect_us.known().is_some(), "{facts:?}");
    let answer = facts.http.known().expect("it answers");
    assert_eq!((answer.status, answer.server.as_deref()), (200, Some("tiny")));
    let process = facts.process.as_ref().and_then(Reading::known).expect("it ran");
    assert!(process.rss_bytes > 0 && process.descriptor_limit.known().is_some(), "{process:?}");
    let metrics = facts.metrics.as_ref().and_then(Reading::known).expect("it has metrics");
    assert!(metrics.contains(&("throng_connections_open".to_owned(), 1000.0)), "{metrics:?}");

    let nobody = TargetAddress { port: 1, pid: Some(u32::MAX), ..target }.look(None);
    assert!(nobody.connect_us.reason().is_some_and(|reason| reason.contains("refused")), "{nobody:?}");
    assert!(nobody.process.is_some_and(|process| process.reason().is_some()));
    let nowhere = TargetAddress { host: "nowhere.invalid".to_owned(), port: 80, ..TargetAddress::default() };
    let nowhere = nowhere.look(None);
    assert!(nowhere.resolution.reason().is_some() && nowhere.address().is_none(), "{nowhere:?}");
}
