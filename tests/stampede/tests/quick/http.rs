//! `stampede http`: answers and failures are counted, and Siege's report has its lines.

use stampede_tests::{Lab, Server};

#[test]
fn http_answers_are_counted_and_reported_as_siege_does() {
    let server = Server::start(|peer| {
        loop {
            let head = peer.request()?;
            let body = if head.starts_with("GET /missing ") { "no" } else { "hello" };
            let status = if body == "no" { "404 Not Found" } else { "200 OK" };
            let response = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            peer.write(response.as_bytes())?;
        }
    });
    let base = format!("http://{}", server.address());
    let lab = Lab::new();
    let (here, missing) = (format!("{base}/here"), format!("{base}/missing"));
    let ended = lab.run(&["http", &here, &missing, "--concurrent", "5", "--repetitions", "10"]);
    let summary = ended.summary();
    assert_eq!((summary.count("http"), summary.count("http_failed")), (50, 50), "{}", summary.0["errors"]);
    assert_eq!(summary.errors("http", "rejected"), (50, vec![404]), "{}", summary.0["errors"]);
    for line in
        ["Transactions", "Availability", "Elapsed time", "Longest transaction", "Shortest transaction"]
    {
        assert!(ended.output.contains(line), "{line}: {}", ended.words());
    }
}

#[test]
fn a_server_that_sends_garbage_instead_of_http_is_counted_as_breaking_the_protocol() {
    let server = Server::start(|peer| {
        peer.request()?;
        peer.write(b"\x00\x01garbage\r\n\r\n")?;
        peer.ignore()
    });
    let url = format!("http://{}/", server.address());
    let ended = Lab::new().run(&["http", &url, "--concurrent", "2", "--repetitions", "3"]);
    let summary = ended.summary();
    assert_eq!((summary.count("http"), summary.count("http_failed")), (0, 6), "{}", summary.0["errors"]);
    assert_eq!(summary.errors("http", "protocol").0, 6, "{}", summary.0["errors"]);
}
