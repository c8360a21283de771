//! Users of several agents in the same rooms: the deliveries that each should get from the others, and barriers across
//! agents.

mod play;
mod processes;

use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use load::draw::Rng;
use load::ledger::Stamp;
use load::statistics::{Counts, Summary};
use nix::sys::signal::Signal;
use play::servers::{Frames, Said, http_server, say, say_close, serve, upgrade};
use processes::{Running, agent, kept, run, run_folder, said, signal, stampede, start, summary};
use proto::phoenix::FrameKind;

/// Number of messages that each user sends.
const MESSAGES: u32 = 30;
const USERS: u64 = 8;

/// Number of faults that the server injected, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Faults {
    dropped: u64,
    repeated: u64,
    reordered: u64,
}

/// One room for all. Messages to users with odd numbers, who all belong to one agent, are dropped, repeated or
/// reordered.
struct Hall {
    members: Vec<Member>,
    rng: Rng,
    faults: Faults,
}

struct Member {
    stream: TcpStream,
    is_far: bool,
    /// By sender: a message held back until the sender's next one has been delivered.
    kept_back: HashMap<u32, Vec<u8>>,
}

impl Hall {
    fn hand_on(&mut self, body: &[u8]) {
        let stamp = Stamp::find(body).expect("users stamp what they say");
        for member in &mut self.members {
            let say = |body: &[u8]| say(&member.stream, FrameKind::Text, body);
            if let Some(before) = member.kept_back.remove(&stamp.sender) {
                say(body);
                say(&before);
                self.faults.reordered += 1;
                continue;
            }
            match if member.is_far { self.rng.below(10) } else { 9 } {
                0 => self.faults.dropped += 1,
                1 => {
                    (0..2).for_each(|_| say(body));
                    self.faults.repeated += 1;
                }
                2 if stamp.sequence < MESSAGES => {
                    member.kept_back.insert(stamp.sender, body.to_vec());
                }
                _ => say(body),
            }
        }
    }
}

fn hall() -> (SocketAddr, Arc<Mutex<Hall>>) {
    let hall = Hall { members: Vec::new(), rng: Rng::for_user(5, 0), faults: Faults::default() };
    let hall = Arc::new(Mutex::new(hall));
    let shared = Arc::clone(&hall);
    let address = serve(move |mut stream| {
        let mut entered = shared.lock().expect("no panic");
        let Some(path) = upgrade(&mut stream, "") else { return };
        let Ok(copy) = stream.try_clone() else { return };
        entered.members.push(Member {
            stream: copy,
            is_far: path.ends_with("/1"),
            kept_back: HashMap::new(),
        });
        drop(entered);
        for said in Frames::new(&stream, false) {
            match said {
                Said::Message(_, body) => shared.lock().expect("no panic").hand_on(&body),
                Said::Close(code) => return say_close(&stream, code),
                Said::Pong(_) => {}
            }
        }
    });
    (address, hall)
}

/// Users that meet, send at the same time and stay until everyone has sent everything. The time between meeting and
/// sending exceeds the possible clock difference of two machines: messages sent within that difference of a join are
/// not judged.
fn talk(folder: &Path, server: SocketAddr) -> PathBuf {
    let text = format!(
        "target: ws://{server}
drain: 1s
phases:
  - burst: {USERS}
sessions:
  - name: talk
    steps:
      - connect: {{ path: \"/hall/{{{{user_id % 2}}}}\", room: hall, echo: true }}
      - barrier: {{ name: there, users: {USERS}, timeout: 60s }}
      - think: 1s
      - loop:
          times: {MESSAGES}
          steps:
            - send: {{ size: 64, audience: room }}
            - think: 20ms
      - barrier: everybody
      - think: 3s
"
    );
    let path = folder.join("talk.yaml");
    std::fs::write(&path, text).expect("written");
    path
}

/// Returns the summary of the run in this directory, recomputed from its logs.
fn recounted(folder: &Path) -> Summary {
    let output = stampede().args(["report", "--json"]).arg(folder).output().expect("a report");
    summary(&output)
}

/// Returns the totals without the maximum number of connections, which several machines' seconds give only up to the
/// changes within a second.
fn totals(summary: &Summary) -> Counts {
    Counts { connected_max: 0, ..summary.counts }
}

#[test]
fn what_is_lost_repeated_and_overtaken_between_agents_is_what_the_network_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("agents").display().to_string();
    let (_one, one) = agent(&["--out", &out]);
    let (_two, two) = agent(&["--out", &out]);
    let (server, hall) = hall();
    let scenario = talk(folder.path(), server);
    let flags = ["--json", "--event-log", "csv", "--threshold", "lost == 0"];
    let output = run(&scenario, &[&one, &two], &flags).output().expect("a run");
    let summary = summary(&output);
    let faults = hall.lock().expect("no panic").faults;
    assert!(faults.dropped > 0 && faults.repeated > 0 && faults.reordered > 0, "{faults:?}");
    let counts = &summary.counts;
    let sent = USERS * u64::from(MESSAGES);
    assert_eq!((counts.sent, counts.users_finished, counts.errors), (sent, USERS, 0), "{}", said(&output));
    assert_eq!((counts.expected, counts.unjudged), (sent * USERS, 0), "{counts:?}");
    let seen = Faults { dropped: counts.lost, repeated: counts.duplicates, reordered: counts.reordered };
    assert_eq!(seen, faults, "{counts:?}");
    assert_eq!(
        (counts.in_flight, counts.late, counts.unexpected, counts.unstamped),
        (0, 0, 0, 0),
        "{counts:?}"
    );
    assert_eq!(counts.delivered, sent * USERS - faults.dropped);
    assert!(summary.thresholds.iter().any(|threshold| !threshold.passed), "{:?}", summary.thresholds);
    assert_eq!((summary.fan_out.publications, summary.fan_out.first_receiver.count), (sent, sent));
    assert!(summary.generator.clock_error_us > 0, "no clock is exact");

    let again = recounted(&run_folder(folder.path()));
    assert_eq!(totals(&again), totals(&summary));
    assert_eq!(again.fan_out, summary.fan_out);
    assert_eq!(again.times, summary.times);
}

/// A server that answers each request and records the request targets in order.
fn register() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let shared = Arc::clone(&asked);
    let server = http_server(move |head, _| {
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        shared.lock().expect("no panic").push(target);
        Some("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned())
    });
    (server, asked)
}

#[test]
fn phases_barriers_and_sequences_are_those_of_all_agents() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_one, one) = agent(&[]);
    let (_two, two) = agent(&[]);
    let (server, asked) = register();
    // The slow users belong to one agent: without coordination the other agent would be ahead.
    let text = format!(
        "target: http://{server}
event_log: false
drain: 0s
phases:
  - {{ name: first, burst: 4, wait_for_users: true, weights: {{ early: 1 }} }}
  - {{ name: second, burst: 4, weights: {{ late: 1 }} }}
sessions:
  - name: early
    steps:
      - if:
          condition: \"{{{{user_id % 2}}}} == 1\"
          then: [{{ think: 2s }}]
      - http: \"/early/{{{{sequence(calls)}}}}\"
      - barrier: {{ name: all, users: 4, timeout: 60s }}
      - http: \"/open\"
  - name: late
    steps:
      - http: \"/late/{{{{sequence(calls)}}}}\"
"
    );
    let scenario = folder.path().join("phases.yaml");
    std::fs::write(&scenario, text).expect("written");
    let output = run(&scenario, &[&one, &two], &["--json"]).output().expect("a run");
    assert_eq!(summary(&output).counts.users_finished, 8, "{}", said(&output));
    // The agents' doctors have queried the target before.
    let asked: Vec<String> =
        asked.lock().expect("no panic").iter().filter(|target| *target != "/").cloned().collect();
    let kinds: Vec<&str> = asked.iter().filter_map(|target| target.split('/').nth(1)).collect();
    let expected = ["early", "open", "late"].map(|kind| [kind; 4]).concat();
    assert_eq!(kinds, expected, "{asked:?}");
    let mut numbers: Vec<u32> =
        asked.iter().filter_map(|target| target.split('/').nth(2)?.parse().ok()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>(), "no number twice: {asked:?}");
}

/// Users that make requests repeatedly until they are stopped.
fn endless(folder: &Path) -> PathBuf {
    let (server, _) = register();
    let text = format!(
        "target: http://{server}
drain: 0s
phases: [{{ burst: 4 }}]
sessions:
  - name: ask
    steps:
      - loop: {{ for: 10m, steps: [{{ http: / }}, {{ think: 100ms }}] }}
"
    );
    let path = folder.join("endless.yaml");
    std::fs::write(&path, text).expect("written");
    path
}

fn begin(folder: &Path, agents: &[&str]) -> Running {
    let controller = start(&mut run(&endless(folder), agents, &["--event-log", "zstd"]));
    // Reports of the first seconds have arrived by then.
    controller.hear_any(&["00:03 ", "00:04 ", "00:05 ", "00:06 "]);
    controller
}

#[test]
fn the_logs_of_all_agents_come_to_a_controller_that_is_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("agents").display().to_string();
    let (_one, one) = agent(&["--out", &out]);
    let (_two, two) = agent(&["--out", &out]);
    let mut controller = begin(folder.path(), &[&one, &two]);
    signal(&controller, Signal::SIGINT);
    controller.process.wait().expect("it ends");
    let kept = kept(folder.path());
    assert_eq!((kept.counts.users, kept.counts.users_stopped), (4, 4));
    assert!(kept.counts.http > 0);
    let again = recounted(&run_folder(folder.path()));
    assert_eq!(totals(&again), totals(&kept));
    assert_eq!(again.times, kept.times);
}

#[test]
fn a_killed_agents_own_folder_tells_what_it_saw_and_the_runs_summary_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("killed");
    let (_one, one) = agent(&["--out", &folder.path().join("agents").display().to_string()]);
    let (mut two, two_address) = agent(&["--out", &out.display().to_string()]);
    let mut controller = begin(folder.path(), &[&one, &two_address]);
    two.process.kill().expect("it is running");
    signal(&controller, Signal::SIGINT);
    controller.hear(&format!("agent {two_address} was lost"));
    controller.process.wait().expect("it ends");
    let kept = kept(folder.path());
    assert_eq!((kept.counts.users, kept.counts.users_failed), (4, 2));
    assert_eq!(totals(&recounted(&run_folder(folder.path()))), totals(&kept), "its log alone tells less");
    let killed = std::fs::read_dir(&out).expect("the agent's runs").map_while(Result::ok).next();
    let of_killed = recounted(&killed.expect("its run").path());
    assert_eq!(of_killed.counts.users, 2);
    assert!(of_killed.counts.http > 0);
}
