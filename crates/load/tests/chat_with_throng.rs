//! The chat session against a real server: run `cargo build -p server` first, or set `THRONG_BIN`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use load::chat::{Event, Options, Session};

const PATIENCE: Duration = Duration::from_secs(180);

/// The server's output before its address.
const LISTENING: &str = "listening on http://";

struct Throng {
    process: Child,
    url: String,
    _data: tempfile::TempDir,
}

impl Drop for Throng {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("THRONG_BIN") {
        return path.into();
    }
    // This test's binary is in target/debug/deps.
    let test = std::env::current_exe().expect("a program knows its own file");
    let binary = test.parent().and_then(Path::parent).expect("two folders").join("throng");
    assert!(
        binary.is_file(),
        "{} is missing: `cargo build -p server` builds it, THRONG_BIN names another",
        binary.display()
    );
    binary
}

fn throng() -> Throng {
    let binary = binary();
    let data = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(binary);
    // Variables meant for this test, such as THRONG_BIN, are not settings of the server.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("THRONG_")) {
        command.env_remove(name);
    }
    let mut process = command
        .args(["serve", "--admin-listen", "off", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a server");
    let said = BufReader::new(process.stdout.take().expect("its standard output"));
    let (addresses, listens) = mpsc::channel();
    // The output is read to the end, so that the server never blocks on a full pipe.
    std::thread::spawn(move || {
        for line in said.lines().map_while(Result::ok) {
            eprintln!("{line}");
            if let Some((_, address)) = line.split_once(LISTENING) {
                let _ = addresses.send(address.to_owned());
            }
        }
    });
    let mut throng = Throng { process, url: String::new(), _data: data };
    let address = listens.recv_timeout(PATIENCE).expect("the server says where it listens");
    throng.url = format!("ws://{address}/socket/websocket");
    throng
}

fn join(throng: &Throng, name: &str) -> Session {
    let options = Options { url: throng.url.clone(), name: Some(name.into()), ..Options::default() };
    let session = Session::begin(options).expect("a session");
    until(&session, |event| *event == Event::Joined);
    session
}

fn until(session: &Session, wanted: impl Fn(&Event) -> bool) -> Event {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let event = session.events().recv_timeout(left).expect("the event in time");
        if wanted(&event) {
            return event;
        }
        eprintln!("before what is waited for: {event:?}");
    }
}

#[test]
fn people_meet_in_the_lobby_of_a_real_server() {
    let throng = throng();
    let ann = join(&throng, "Ann");
    until(&ann, |event| *event == Event::People(vec!["Ann".into()]));
    let mut bob = join(&throng, "Bob");
    until(&ann, |event| *event == Event::Arrived("Bob".into()));
    until(&bob, |event| *event == Event::People(vec!["Ann".into(), "Bob".into()]));

    ann.say("hello".into()).expect("room for it");
    let heard = Event::Message { name: "Ann".into(), body: "hello".into(), own: false };
    until(&bob, |event| matches!(event, Event::Message { .. }) && *event == heard);

    bob.say("x".repeat(8193)).expect("room for it");
    match until(&bob, |event| matches!(event, Event::NotSent { .. })) {
        Event::NotSent { reason, .. } => assert!(reason.contains("8192"), "{reason}"),
        other => panic!("{other:?}"),
    }
    bob.finish();
    while bob.events().recv_timeout(PATIENCE).is_ok() {}
    until(&ann, |event| *event == Event::Departed("Bob".into()));
}
