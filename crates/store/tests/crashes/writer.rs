//! A program that sends forever and prints what was acknowledged, and the reader of its output.

use chat::verbs::{Append, Around, CreateCommunity, CreateRoom, FindRoom, Join, Meet, ReadPage};
use chat::*;
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};

/// The argument that makes this program the writer.
pub(crate) const FLAG: &str = "--write";
/// Appends in flight at once.
const ON_THEIR_WAY: usize = 32;
const PATIENCE: Duration = Duration::from_secs(300);

/// Opens a PostgreSQL URL or a file.
pub(crate) fn open(target: &str) -> Arc<dyn Store> {
    if target.starts_with("postgres:") {
        Arc::new(PostgresStore::open(PostgresOptions::new(target)).expect("the database opens"))
    } else {
        Arc::new(SqliteStore::open(SqliteOptions::new(Path::new(target))).expect("the file opens"))
    }
}

fn entropy(round: &str, nth: u64) -> Entropy {
    // Ids use the last ten of the 16 bytes.
    let mut bytes = [0; 16];
    for (byte, letter) in bytes[6..8].iter_mut().zip(round.bytes().rev()) {
        *byte = letter;
    }
    bytes[8..].copy_from_slice(&nth.to_be_bytes());
    Entropy(bytes)
}

pub(crate) fn call(by: By, round: &str, nth: u64) -> Call {
    let community = CommunityId::parse("crash").expect("it is a name");
    Call { community, by, now: Moment::from_millis(1_700_000_000_000 + nth), entropy: entropy(round, nth) }
}

fn sender() -> By {
    By::Person(PersonId::parse("ann").expect("it is a name"))
}

/// The room; created if it does not exist.
pub(crate) fn room(store: &dyn Store, round: &str) -> ConversationId {
    let service = |nth: u64| call(By::Service, round, 1_000_000 + nth);
    let name = RoomName::parse("room").expect("it is a name");
    if let Ok(room) = store.ask(service(0).ask(FindRoom { name: name.clone() })) {
        return room.id;
    }
    store.ask(service(1).ask(CreateCommunity { settings: Settings::named("Crash") })).expect("it is new");
    let room = store.ask(service(2).ask(CreateRoom::public(name, "Room"))).expect("it is new").id;
    let profile = Profile { name: "Ann".into(), avatar: None, guest: false, role: None };
    store.ask(call(sender(), round, 1_000_004).ask(Meet { profile })).expect("she may come");
    store
        .ask(call(sender(), round, 1_000_005).ask(Join { conversation: room, invitation: None }))
        .expect("she may");
    room
}

/// An append with its own client id.
pub(crate) fn append(room: ConversationId, round: &str, nth: u64) -> Asked<Append> {
    let id = format!("{round}-{nth}");
    let client_id = ClientId::parse(&id).expect("it is an id");
    call(sender(), round, nth).ask(Append { conversation: room, draft: Draft::text(Some(client_id), &id) })
}

/// Sends forever, printing `acked ID SEQ` or `failed CODE` for each message. Prints `ready` before the first.
pub(crate) fn write(target: &str, round: &str) {
    let store = open(target);
    let room = room(&*store, round);
    say("ready");
    let (answer, answers) = mpsc::channel();
    for nth in 0_u64.. {
        let answer = answer.clone();
        store.submit_verb(append(room, round, nth), move |outcome| {
            match &outcome {
                Ok(said) => say(&format!("acked {} {}", said.message.client_id, said.message.seq.0)),
                Err(failure) => say(&format!("failed {}", failure.code())),
            }
            answer.send(()).expect("the writer waits");
        });
        if nth >= ON_THEIR_WAY as u64 {
            answers.recv().expect("there are answers on their way");
        }
    }
}

/// Prints with one system call per line, so that no line is torn.
fn say(line: &str) {
    let written = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
    written.expect("somebody listens");
}

/// The writer as a child process.
pub(crate) struct Writer {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Writer {
    /// Starts it under `wrapper`, the words of a command to put in front.
    pub(crate) fn start(wrapper: &[&str], target: &str, round: &str) -> Self {
        let own = std::env::current_exe().expect("it runs");
        let mut words: Vec<&str> = wrapper.to_vec();
        let own = own.to_str().expect("the path is text");
        words.extend([own, FLAG, target, round]);
        let mut command = Command::new(words[0]);
        let child = command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child =
            child.unwrap_or_else(|error| panic!("{} is missing (`make deps`): {error}", words[0]));
        let output = child.stdout.take().expect("it is piped");
        let (line, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for text in BufReader::new(output).lines().map_while(Result::ok) {
                if line.send(text).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Reads until a line that begins with `word`; returns that line and those before it.
    pub(crate) fn until(&self, word: &str) -> Vec<String> {
        let mut read = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            read.push(line.unwrap_or_else(|_| panic!("no `{word}` came after {read:?}")));
            if read.last().is_some_and(|line| line.starts_with(word)) {
                return read;
            }
        }
    }

    /// Kills it (SIGKILL), and returns the lines that it had printed.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("it is our child");
        self.child.wait().expect("it is our child");
        self.lines.iter().collect()
    }
}

/// Client ids with their sequence numbers.
pub(crate) type Acked = HashMap<String, u64>;

/// The acknowledgements in the writer's output.
pub(crate) fn acked(lines: &[String]) -> Acked {
    let pair = |line: &String| {
        let (id, seq) = line.strip_prefix("acked ")?.split_once(' ')?;
        Some((id.to_owned(), seq.parse().ok()?))
    };
    lines.iter().filter_map(pair).collect()
}

/// Checks that every acknowledged message is stored once, with its sequence number; that there are no gaps; and that
/// each round is in order. Returns the number of messages.
pub(crate) fn verify(store: &dyn Store, acked: &Acked) -> u64 {
    let room = room(store, "verify");
    let mut places: HashMap<String, u64> = HashMap::new();
    let mut newest_of_round: HashMap<String, u64> = HashMap::new();
    let mut last = 0;
    loop {
        let page = ReadPage { conversation: room, around: Around::After(Seq(last)), limit: 200 };
        let page = store.ask(call(By::Service, "verify", 0).ask(page)).expect("it can be read");
        for shown in page.messages {
            let message = shown.message;
            assert_eq!(message.seq.0, last + 1, "there is no hole");
            last = message.seq.0;
            let id = message.client_id.as_str();
            assert_eq!(message.text, id, "it says what was sent");
            assert!(places.insert(id.to_owned(), last).is_none(), "{id} is there twice");
            let (round, nth) = id.split_once('-').expect("so it was sent");
            let nth: u64 = nth.parse().expect("so it was sent");
            let before = newest_of_round.insert(round.to_owned(), nth);
            assert!(before.is_none_or(|before| before < nth), "{id} is out of order");
        }
        if !page.more {
            break;
        }
    }
    for (id, seq) in acked {
        assert_eq!(places.get(id), Some(seq), "{id} was acknowledged at {seq}");
    }
    last
}
