//! What `stampede hold` says a connection costs its server, where that is known. The server is in this process, whose
//! memory nothing else may change meanwhile: one test, in a binary of its own.

use std::io;

use stampede_tests::{Ended, Lab, Peer, Server};

/// What the server takes for each connection, and writes to: large enough that the thread it has besides is little.
const BYTES: usize = 512 << 10;
/// What a connection may cost at most: those bytes, its thread's stack and what both take of the allocator.
const BYTES_MAX: f64 = 1.25 * BYTES as f64;
const CLIENTS: &str = "120";

/// Takes memory for a connection, and keeps it until the connection ends.
fn with_memory(peer: &mut Peer, serve: impl Fn(&mut Peer) -> io::Result<()>) -> io::Result<()> {
    let memory = vec![1_u8; BYTES];
    let served = serve(peer);
    assert!(memory.iter().all(|byte| *byte == 1), "it is there until the end");
    served
}

fn wait_as_websocket(peer: &mut Peer) -> io::Result<()> {
    peer.upgrade()?;
    with_memory(peer, |peer| {
        while peer.message()?.is_some() {}
        Ok(())
    })
}

/// Never answers `/wait`.
fn wait_as_request(peer: &mut Peer) -> io::Result<()> {
    let head = peer.request()?;
    if !head.starts_with("GET /wait ") {
        return peer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    with_memory(peer, Peer::ignore)
}

#[test]
fn hold_fits_what_a_connection_costs_and_says_the_memory_while_it_runs() {
    let pid = std::process::id().to_string();
    let flags = ["--clients", CLIENTS, "--rate", "20", "--seconds", "2", "--every", "1", "--pid", &pid];

    let server = Server::start(wait_as_websocket);
    assert_costs(&Lab::new().run(&[&["hold", &server.url()][..], &flags].concat()));
    drop(server);

    let server = Server::start(wait_as_request);
    let base = format!("http://{}", server.address());
    let lab = Lab::new();
    let urls = lab.file("urls.txt", "/wait\n");
    let http = ["hold", &base, "--http", urls.to_str().expect("its name is text")];
    assert_costs(&lab.run(&[&http[..], &flags].concat()));
}

fn assert_costs(ended: &Ended) {
    let line = ended.output.lines().find(|line| line.ends_with(" bytes per connection"));
    let line = line.unwrap_or_else(|| panic!("no slope: {}", ended.words()));
    let slope = line.split(": ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a slope");
    let slope: f64 = slope.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
    assert!((BYTES as f64 * 0.9..BYTES_MAX).contains(&slope), "{line}\n{}", ended.words());

    // While it runs, and once more behind the report.
    let lines = ended.complaints.lines().filter(|line| line.contains("  server rss ")).count();
    assert!(lines >= 3, "{}", ended.words());
    let mut rows = ended.output.lines().skip_while(|line| !line.contains("server RSS KiB"));
    assert!(rows.next().is_some() && rows.next().is_some(), "{}", ended.words());
}
