//! What an idle person costs who has joined their own topic and a room: requested heap bytes of hub, gateway, messenger
//! and its read cache together. The store is in memory, and contains everybody before the first one comes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::verbs::{CreateCommunity, CreateKey, CreateRoom, Join, Meet};
use chat::{By, CommunityId, Failure, MemoryStore, PersonId, Profile, RoomName};
use gateway::{Gateway, Mount, Socket, machine};
use messenger::{Messenger, Settings, now};
use ring::hmac;
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Powers of two with their rooms: there, doubling lists are full and tables are as empty as they get.
const FEW: usize = 4 * PEOPLE_PER_ROOM;
const MANY: usize = 16 * PEOPLE_PER_ROOM;
const PEOPLE_PER_ROOM: usize = 63;
/// 712 in 7 blocks were measured when this was written.
const BYTES_PER_PERSON_MAX: usize = 735;
const BLOCKS_PER_PERSON_MAX: usize = 7;

const COMMUNITY: &str = "c0";
const SECRET: &str = "a secret of at least thirty-two bytes";
/// Timeout of every operation.
const PATIENCE: Duration = Duration::from_secs(60);
/// The heap is at rest when it has not changed for this long.
const REST: Duration = Duration::from_millis(300);

#[test]
fn somebody_who_is_idle_stays_within_their_bytes() {
    machine::raise_descriptor_limit().expect("raised");
    let address = house();
    let mut clients = Vec::with_capacity(MANY);
    let mut held_by = |people: usize| {
        while clients.len() < people {
            let nth = clients.len();
            clients.push(come_in(address, nth).expect("somebody comes in"));
        }
        heap_at_rest()
    };
    let (few, many) = (held_by(FEW), held_by(MANY));
    let each = [0, 1].map(|of| (many[of] - few[of]) / (MANY - FEW));
    let is_within = each[0] <= BYTES_PER_PERSON_MAX && each[1] <= BLOCKS_PER_PERSON_MAX;
    assert!(is_within, "{} bytes in {} blocks", each[0], each[1]);
}

/// A gateway with a messenger in whose rooms everybody is already a member.
fn house() -> SocketAddr {
    let store = Arc::new(MemoryStore::default());
    furnish(&Messenger::new(store.clone(), Settings::default())).expect("rooms and people");
    // A second messenger, which has read nothing yet.
    let messenger = Messenger::new(store, Settings::default());
    let people = messenger.clone();
    let mount = messenger.channels(Mount::channels("/socket")).idle_timeout(None);
    let mount = mount.connect(move |request| Ok(people.socket(request)?.unwrap_or_else(Socket::new)));
    let running = Gateway::builder().listen(([127, 0, 0, 1], 0)).shards(1).mount(mount).start();
    running.expect("it starts").local_addresses()[0]
}

fn furnish(messenger: &Messenger) -> Result<(), Failure> {
    let community = CommunityId::parse(COMMUNITY).expect("an id");
    let settings = chat::Settings::named("Bench");
    messenger.ask(&community, By::Service, CreateCommunity { settings }).wait()?;
    let purpose = json!({ "kind": "token", "algorithm": "HS256", "kid": null, "material": SECRET });
    let key = CreateKey { name: "site".to_owned(), purpose, hash: Vec::new() };
    messenger.ask(&community, By::Service, key).wait()?;
    for nth in 0..MANY {
        if nth % PEOPLE_PER_ROOM == 0 {
            let name = RoomName::parse(&room(nth)).expect("a name");
            messenger.ask(&community, By::Service, CreateRoom::public(name, &room(nth))).wait()?;
        }
        let by = || By::Person(PersonId::parse(&person(nth)).expect("an id"));
        let profile = Profile { name: person(nth), avatar: None, guest: false, role: None };
        messenger.ask(&community, by(), Meet { profile }).wait()?;
        let name = RoomName::parse(&room(nth)).expect("a name");
        let conversation = messenger.ask(&community, By::Service, chat::verbs::FindRoom { name }).wait()?.id;
        messenger.ask(&community, by(), Join { conversation, invitation: None }).wait()?;
    }
    Ok(())
}

fn person(nth: usize) -> String {
    format!("p{nth}")
}

fn room(nth: usize) -> String {
    format!("r{}", nth / PEOPLE_PER_ROOM)
}

/// A token signed by the host site.
fn token(nth: usize) -> String {
    let now_s = now().millis() / 1_000;
    let claims = json!({"sub": person(nth), "name": person(nth), "aud": COMMUNITY, "iat": now_s, "exp": now_s + 3_600});
    let encode = |part: serde_json::Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let signed = format!("{}.{}", encode(json!({"alg": "HS256", "typ": "JWT"})), encode(claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
}

/// A person connects and joins both topics.
fn come_in(address: SocketAddr, nth: usize) -> io::Result<TcpStream> {
    let mut client = TcpStream::connect(address)?;
    client.set_nodelay(true)?;
    client.set_read_timeout(Some(PATIENCE))?;
    let path = format!("/socket/websocket?vsn=2.0.0&community={COMMUNITY}&token={}", token(nth));
    write!(
        client,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.extend(byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
    for (reference, topic) in
        [format!("person:{COMMUNITY}/{}", person(nth)), format!("room:{COMMUNITY}/{}", room(nth))]
            .iter()
            .enumerate()
    {
        say(
            &mut client,
            &json!([reference.to_string(), reference.to_string(), topic, "phx_join", {}]).to_string(),
        )?;
        let answer = loop {
            let text = hear(&mut client)?;
            if text.contains("phx_reply") {
                break text;
            }
        };
        assert!(answer.contains(r#""status":"ok""#), "{answer}");
    }
    Ok(client)
}

/// RFC 6455, section 5.2: a text frame with a mask that changes nothing.
fn say(client: &mut TcpStream, text: &str) -> io::Result<()> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).expect("a short text");
    client.write_all(&[&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat())
}

fn hear(client: &mut TcpStream) -> io::Result<String> {
    let mut head = [0; 2];
    client.read_exact(&mut head)?;
    let length = match head[1] {
        126 => {
            let mut length = [0; 2];
            client.read_exact(&mut length)?;
            u64::from(u16::from_be_bytes(length))
        }
        127 => {
            let mut length = [0; 8];
            client.read_exact(&mut length)?;
            u64::from_be_bytes(length)
        }
        length => u64::from(length),
    };
    let mut text = String::new();
    Read::by_ref(client).take(length).read_to_string(&mut text)?;
    Ok(text)
}

/// Bytes and blocks once no thread changes them any more; if they do not come to rest, as they are after [`PATIENCE`].
fn heap_at_rest() -> [usize; 2] {
    let heap = || {
        let stats = INSTRUMENTED_SYSTEM.stats();
        [stats.bytes_allocated - stats.bytes_deallocated, stats.allocations - stats.deallocations]
    };
    let begin = Instant::now();
    let (mut last, mut since) = (heap(), Instant::now());
    while since.elapsed() < REST && begin.elapsed() < PATIENCE {
        std::thread::sleep(REST / 20);
        let now = heap();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}
