//! wss: an authority of one's own is trusted where it is named, and nobody else is.

use stampede_tests::{Authority, Lab, Server, echo_by_tls};

#[test]
fn wss_trusts_the_authority_that_is_named() {
    let authority = Authority::new();
    let (server, _) = echo_by_tls(authority.server());
    let lab = Lab::new();
    let ca = lab.file("ca.pem", &authority.pem());
    let ca = ca.to_str().expect("its name is text");
    let url = format!("wss://localhost:{}", server.address().port());
    let scenario = crate::echoes(&url, 5, 10, "10ms");
    for (trusting, outcome) in [(vec!["--ca", ca], None), (vec!["--insecure"], None), (vec![], Some("tls"))] {
        let ended = lab.start_scenario(&scenario, &trusting).ended();
        let summary = ended.summary();
        match outcome {
            None => {
                assert_eq!((summary.count("delivered"), summary.count("errors")), (50, 0), "{trusting:?}")
            }
            Some(outcome) => assert_eq!(summary.errors("connect", outcome).0, 5, "{}", summary.0["errors"]),
        }
    }
    let other = lab.file("other.pem", &Authority::new().pem());
    let ended = lab.start_scenario(&scenario, &["--ca", other.to_str().expect("text")]).ended();
    assert_eq!(ended.summary().errors("connect", "tls").0, 5);
}

#[test]
fn requests_by_https_trust_the_same() {
    let authority = Authority::new();
    let config = authority.server();
    let server = Server::start(move |peer| {
        peer.begin_tls(&config)?;
        loop {
            peer.request()?;
            peer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")?;
        }
    });
    let lab = Lab::new();
    let ca = lab.file("ca.pem", &authority.pem());
    let url = format!("https://localhost:{}/page", server.address().port());
    let flags = ["http", &url, "--concurrent", "2", "--repetitions", "3"];
    let trusting = lab.run(&[&flags[..], &["--ca", ca.to_str().expect("its name is text")]].concat());
    assert_eq!(trusting.summary().count("http"), 6, "{}", trusting.summary().0["errors"]);
    let summary = lab.run(&flags).summary();
    assert_eq!((summary.count("http"), summary.errors("http", "tls").0), (0, 6), "{}", summary.0["errors"]);
}

#[test]
fn the_doctor_trusts_whom_it_is_told_to_trust() {
    let authority = Authority::new();
    let (server, _) = echo_by_tls(authority.server());
    let lab = Lab::new();
    let ca = lab.file("ca.pem", &authority.pem());
    let url = format!("wss://localhost:{}", server.address().port());
    let answer = |trusting: &[&str]| {
        let outcome = lab.ask(&[&["doctor", &url, "--clients", "1", "--json"], trusting].concat());
        let examination: serde_json::Value = serde_json::from_str(&outcome.output).expect("JSON");
        examination["targets"][0]["http"].to_string()
    };
    assert!(answer(&[]).contains("TLS failed"), "nobody vouches for it");
    for trusting in [&["--ca", ca.to_str().expect("its name is text")][..], &["--insecure"]] {
        let answer = answer(trusting);
        assert!(!answer.contains("TLS failed"), "{trusting:?}: {answer}");
    }
}

#[test]
fn a_person_who_chats_trusts_whom_a_run_would() {
    let authority = Authority::new();
    let (server, _) = echo_by_tls(authority.server());
    let lab = Lab::new();
    let ca = lab.file("ca.pem", &authority.pem());
    let ca = ca.to_str().expect("its name is text");
    let room = format!("wss://localhost:{}/room", server.address().port());
    for trusting in [&["--ca", ca][..], &["--insecure"]] {
        let mut ann = lab.start(&[&["chat", &room, "--name", "Ann"], trusting].concat());
        ann.wait_for(" joined ");
        ann.close_input();
        let ended = ann.ended();
        assert_eq!(ended.code, 0, "{trusting:?}: {}{}", ended.output, ended.complaints);
    }
    let missing = lab.ask(&["chat", &room, "--name", "Ann", "--ca", "no-such.pem"]);
    assert_eq!(missing.code, 4, "{}", missing.complaints);
    assert!(missing.complaints.contains("no-such.pem"), "{}", missing.complaints);
    let distrusting = lab.ask(&["chat", &room, "--name", "Ann"]);
    assert_eq!(distrusting.code, 4, "{}{}", distrusting.output, distrusting.complaints);
    assert!(
        distrusting.complaints.contains("cannot establish a secure connection"),
        "{}",
        distrusting.complaints
    );
}
