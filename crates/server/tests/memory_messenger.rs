//! Compares the memory metrics with what the kernel reports, with people of the messenger: each has a token, their own topic and
//! a stored room.

mod client;
mod throng;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use client::Client;
use gateway::machine;
use ring::hmac;
use std::net::SocketAddr;
use std::ops::Range;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};
use throng::{NO_IDLE_TIMEOUT, Throng, request, until};

/// Fewer people would be lost in the process's base memory, and in the inaccuracy of the kernel's numbers
/// (proc_pid_status(5), `VmRSS`).
const PEOPLE: usize = 6_000;
const PEOPLE_PER_ROOM: usize = 50;
/// Descriptors that the test and the server need besides people's connections.
const DESCRIPTORS_RESERVED: u64 = 700;

const COMPONENTS: &str = "throng_memory_bytes{";
const ALLOCATOR: &str = "throng_memory_bytes{component=\"allocator\"} ";
const RESIDENT: &str = "process_resident_memory_bytes ";

const COMMUNITY: &str = "default";
const SECRET: &str = "a secret of a site that does not exist";

#[test]
fn the_components_are_the_resident_memory_of_a_messengers_crowd_within_a_tenth() {
    let limit = machine::raise_descriptor_limit().expect("raised").soft.unwrap_or(u64::MAX);
    let needed = PEOPLE as u64 + DESCRIPTORS_RESERVED;
    assert!(limit >= needed, "raise the hard limit of descriptors (ulimit -Hn) to {needed} to run this");
    let server = Throng::start(&NO_IDLE_TIMEOUT);
    open_rooms(&server);
    // The first ones warm the process up: threads, statements of the store, buffers.
    let mut crowd = come_in(server.address, 0..PEOPLE / 4);
    let some = metrics(&server);
    crowd.extend(come_in(server.address, PEOPLE / 4..PEOPLE));
    let full = metrics(&server);
    assert_eq!(sum(&full, "throng_joined "), 2.0 * crowd.len() as f64, "{full}");
    let people = sum(&full, "throng_memory_bytes{component=\"people\"} ");
    assert!(people > 100.0 * PEOPLE as f64, "{}", about_memory(&full));
    let part = sum(&full, COMPONENTS) / sum(&full, RESIDENT);
    assert!((0.9..=1.1).contains(&part), "{part:.3} of\n{}", about_memory(&full));
    // The process's base memory must not hide what people take. What the last of them did may be under way.
    until("what people take is counted", || {
        let full = metrics(&server);
        let [counted, grown] = [COMPONENTS, RESIDENT].map(|name| sum(&full, name) - sum(&some, name));
        let part = counted / grown;
        let is_counted = (0.75..=1.25).contains(&part);
        if !is_counted {
            eprintln!("{part:.3} of the growth of\n{}\nto\n{}", about_memory(&some), about_memory(&full));
        }
        is_counted.then_some(())
    });
    // What a crowd leaves behind, in pieces that the allocator cannot give back, is a component, too.
    drop(crowd);
    let empty = || Some(metrics(&server)).filter(|page| sum(page, "throng_connections_open ") == 0.0);
    until("everybody has left", empty);
    // The last of what they did may be under way.
    until("what they have left behind is counted", || {
        let left = metrics(&server);
        let part = sum(&left, COMPONENTS) / sum(&left, RESIDENT);
        let is_counted = (0.9..=1.1).contains(&part) && sum(&left, ALLOCATOR) > 1e6;
        if !is_counted {
            eprintln!("{part:.3} of\n{}", about_memory(&left));
        }
        is_counted.then_some(())
    });
}

fn metrics(server: &Throng) -> String {
    server.get(server.admin, "/metrics").body
}

/// Makes the community trust the tokens of [`token`], and creates the rooms.
fn open_rooms(server: &Throng) {
    let (admin, token) = (server.admin, server.token());
    let create = |what: &str, body: &str| {
        let length = body.len();
        let answer = request(
            admin,
            &format!(
                "POST /api/v1/communities/{COMMUNITY}/{what} HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\n\
                 authorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
        );
        assert!(matches!(answer.status, 200 | 201), "{answer:?}");
    };
    let purpose = format!(r#"{{"kind":"token","algorithm":"HS256","kid":null,"material":"{SECRET}"}}"#);
    create("keys", &format!(r#"{{"name":"site","purpose":{purpose}}}"#));
    for nth in 0..PEOPLE.div_ceil(PEOPLE_PER_ROOM) {
        create("rooms", &format!(r#"{{"name":"r{nth}","kind":"public","title":"Room {nth}"}}"#));
    }
}

/// These people come in, several at a time: each is stored before the answer, and what waits together is stored together.
fn come_in(address: SocketAddr, people: Range<usize>) -> Vec<Client> {
    const AT_A_TIME: usize = 32;
    let each = |first: usize| {
        let people = people.clone().skip(first).step_by(AT_A_TIME);
        move || people.map(|nth| person(address, nth)).collect()
    };
    thread::scope(|scope| {
        let coming: Vec<_> = (0..AT_A_TIME).map(|first| scope.spawn(each(first))).collect();
        coming.into_iter().flat_map(|one| -> Vec<Client> { one.join().expect("they come in") }).collect()
    })
}

/// Somebody connects, and joins their own topic and their room.
fn person(address: SocketAddr, nth: usize) -> Client {
    let path = format!("/socket/websocket?vsn=2.0.0&community={COMMUNITY}&token={}", token(nth));
    let mut person = Client::open(address, &path);
    let topics =
        [format!("person:{COMMUNITY}/p{nth}"), format!("room:{COMMUNITY}/r{}", nth / PEOPLE_PER_ROOM)];
    for topic in topics {
        person.send(&format!(r#"["1","1","{topic}","phx_join",{{}}]"#));
        let is_reply = |text: &String| text.contains(&topic) && text.contains("phx_reply");
        let reply = std::iter::repeat_with(|| person.hear_text()).find(is_reply).expect("the server answers");
        assert!(reply.contains(r#""status":"ok""#), "{reply}");
    }
    person
}

/// A token as the host site would sign it.
fn token(nth: usize) -> String {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right").as_secs();
    let until_s = now_s + 3_600;
    let claims = format!(
        r#"{{"sub":"p{nth}","name":"Person {nth}","aud":"{COMMUNITY}","iat":{now_s},"exp":{until_s}}}"#
    );
    let encode = |part: &str| URL_SAFE_NO_PAD.encode(part);
    let signed = format!("{}.{}", encode(r#"{"alg":"HS256","typ":"JWT"}"#), encode(&claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
}

/// Adds up the samples of a metrics page whose lines begin with this.
fn sum(page: &str, beginning: &str) -> f64 {
    let samples = page.lines().filter(|line| line.starts_with(beginning));
    samples
        .map(|line| line.rsplit_once(' ').and_then(|(_, value)| value.parse::<f64>().ok()).expect("a number"))
        .sum()
}

/// Returns the lines about memory, for failure messages.
fn about_memory(page: &str) -> String {
    let lines: Vec<&str> =
        page.lines().filter(|line| line.contains("memory") && !line.starts_with('#')).collect();
    lines.join("\n")
}
