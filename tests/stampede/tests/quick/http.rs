//! `stampede http`: answers and failures are counted, and Siege's report has its lines.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

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
fn requests_are_made_as_the_lines_of_a_file_and_the_flags_say() {
    let asked = Arc::<Mutex<BTreeSet<[String; 4]>>>::default();
    let noted = Arc::clone(&asked);
    let server = Server::start(move |peer| {
        loop {
            let head = peer.request()?;
            let body = String::from_utf8_lossy(&peer.body(&head)?).into_owned();
            let mut words = head.split(' ').map(str::to_owned);
            let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let content_type = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-type").then(|| value.to_owned())
            });
            let request = [method, path, body, content_type.unwrap_or_default()];
            noted.lock().unwrap_or_else(PoisonError::into_inner).insert(request);
            peer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        }
    });
    let lab = Lab::new();
    lab.file("order.json", "{\"number\": 7}");
    let urls = lab.file(
        "urls.txt",
        &format!(
            "# the shop\nSHOP=http://{}\n$(SHOP)/basket POST item=1&count=2\n${{SHOP}}/order PUT <order.json\n\
             $(SHOP)/plain\n",
            server.address()
        ),
    );
    let file = urls.to_str().expect("its name is text");
    let alone = format!("http://{}/alone", server.address());
    let flags = ["--file", file, "--data", "a=b", "--concurrent", "2", "--repetitions", "3"];
    let ended = lab.run(&[&["http", &alone][..], &flags].concat());
    assert_eq!(ended.summary().count("http"), 2 * 3 * 4, "{}", ended.words());

    let form = "application/x-www-form-urlencoded";
    let expected = [
        ["POST", "/alone", "a=b", form],
        ["POST", "/basket", "item=1&count=2", form],
        ["PUT", "/order", "{\"number\": 7}", form],
        ["POST", "/plain", "a=b", form],
    ];
    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    asked.retain(|request| request[1] != "/"); // the doctor's, before the run
    assert_eq!(asked, expected.map(|request| request.map(str::to_owned)).into());
}

#[test]
fn a_line_of_a_file_that_is_no_request_is_told_with_its_number_and_exit_status_2() {
    let lab = Lab::new();
    lab.file("urls.txt", "http://127.0.0.1:1/\nhttp://127.0.0.1:1/ post a=b\n");
    let outcome = lab.ask(&["http", "--file", "urls.txt"]);
    assert_eq!(outcome.code, 2, "{}{}", outcome.output, outcome.complaints);
    assert!(outcome.complaints.contains("urls.txt:2: `post`"), "{}", outcome.complaints);
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
