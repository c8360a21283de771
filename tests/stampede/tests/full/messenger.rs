//! `stampede chat` in the messenger of a real server: by lines, as JSON and on a terminal.

use serde_json::Value;
use stampede_tests::{HostSite, Lab, Program, Terminal, Throng, wait_until};

const ENTER: &str = "\r";
const CONTROL_C: &str = "\x03";
const PAGE_UP: &str = "\x1b[5~";

fn come_in(lab: &Lab, throng: &Throng, name: &str) -> Program {
    let mut person = lab.start(&["chat", &throng.lobby(), "--name", name]);
    person.wait_for(&format!("{name} joined #lobby"));
    person
}

/// What it said as JSON, so far.
fn objects(person: &Program) -> Vec<Value> {
    person
        .output()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

fn wait_for_object(person: &Program, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let mut found = None;
    wait_until(what, || {
        // The last line may not be whole yet.
        let said = person.output();
        let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
        found = whole.lines().filter_map(|line| serde_json::from_str(line).ok()).find(|object| is_it(object));
        found.is_some()
    });
    found.unwrap_or_default()
}

fn leave(mut person: Program) {
    person.close_input();
    let ended = person.ended();
    assert_eq!(ended.code, 0, "{}{}", ended.output, ended.complaints);
}

#[test]
#[ignore = "needs throng"]
fn two_people_talk_change_what_they_said_and_find_it() {
    let (throng, lab) = (Throng::start(), Lab::new());
    let mut ann = come_in(&lab, &throng, "Ann");
    let mut bob = come_in(&lab, &throng, "Bob");
    bob.type_line("helo Ann");
    ann.wait_for("[#lobby 1] Bob: helo Ann");
    bob.type_line("/edit hello Ann");
    ann.wait_for("Bob edited #1: hello Ann");
    ann.type_line("/react #1 👍");
    bob.wait_for("Ann reacted to #1 with 👍");
    ann.type_line("/reply #1 hello yourself");
    bob.wait_for("[#lobby 2] Ann (to #1): hello yourself");
    ann.type_line("/search hello");
    ann.wait_for("results for \"hello\": 2 messages");
    ann.type_line("/delete");
    bob.wait_for("#2 of Ann was deleted");
    ann.type_line("/history");
    ann.wait_for("[#lobby 1] Bob: hello Ann (edited) 👍1");
    ann.wait_for("[#lobby 2] Ann (to #1): (deleted)");
    ann.type_line("/who");
    ann.wait_for("2 people have #lobby open");
    leave(ann);
    leave(bob);
}

#[test]
#[ignore = "needs throng"]
fn a_direct_conversation_counts_what_is_unread_until_it_is_opened() {
    let (throng, lab) = (Throng::start(), Lab::new());
    let mut ann = come_in(&lab, &throng, "Ann");
    let mut bob = come_in(&lab, &throng, "Bob");
    bob.type_line("hello");
    ann.wait_for("Bob: hello");
    ann.type_line("/dm Bob | psst");
    bob.wait_for("[@Ann 1] Ann: psst");
    bob.type_line("/list");
    bob.wait_for("@Ann  1 unread");
    bob.type_line("/open Ann");
    bob.wait_for("opened @Ann, 1 unread");
    bob.type_line("/read");
    bob.type_line("yes?");
    ann.wait_for("[@Bob 2] Bob: yes?");
    bob.type_line("/list");
    wait_until("nothing is unread", || {
        bob.output().lines().any(|line| line.trim_end().ends_with("@Ann") && line.starts_with('*'))
    });
    leave(ann);
    leave(bob);
}

#[test]
#[ignore = "needs throng"]
fn a_group_is_in_the_lists_of_all_its_people_and_of_nobody_else() {
    let (throng, lab) = (Throng::start(), Lab::new());
    let site = HostSite::of(&throng);
    let [mut ann, mut bob, mut cat, mut dan] = ["Ann", "Bob", "Cat", "Dan"].map(|name| {
        let mut person = lab.start(&["chat", &throng.lobby(), "--token", &site.token(name)]);
        person.wait_for(&format!("{name} joined #lobby"));
        person
    });
    for person in [&mut bob, &mut cat, &mut dan] {
        person.type_line("hello");
    }
    for name in ["Bob", "Cat", "Dan"] {
        ann.wait_for(&format!("{name}: hello"));
    }
    ann.type_line("/group Bob, Cat | The three");
    ann.wait_for("opened The three");
    ann.type_line("only us");
    for person in [&mut bob, &mut cat] {
        person.wait_for("[The three 1] Ann: only us");
        person.type_line("/list");
        person.wait_for("The three  1 unread");
    }
    bob.type_line("/open The three");
    bob.wait_for("opened The three, 1 unread");
    bob.type_line("indeed");
    for person in [&mut ann, &mut cat] {
        person.wait_for("[The three 2] Bob: indeed");
    }
    // Lines are answered one after the other.
    dan.type_line("/list");
    dan.type_line("/who");
    dan.wait_for("4 people have #lobby open");
    assert!(!dan.output().contains("The three"), "{}", dan.output());
    for person in [ann, bob, cat, dan] {
        leave(person);
    }
}

#[test]
#[ignore = "needs throng"]
fn a_script_talks_in_json_and_ends_with_how_much_was_refused() {
    let (throng, lab) = (Throng::start(), Lab::new());
    let mut script = lab.start(&["chat", &throng.lobby(), "--name", "Script", "--json"]);
    for number in 0..20 {
        script.type_line(&format!("line {number}"));
    }
    script.type_line("/serach line");
    // What was meant for one person is not said to the room where that person is not found.
    for line in ["/dm no-such-person", "a secret", "/open lobby"] {
        script.type_line(line);
    }
    script.type_line("/history");
    script.close_input();
    let said = script.ended();
    assert_eq!(said.code, 4, "{}{}", said.output, said.complaints);
    let objects: Vec<Value> = said
        .output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect();
    let of = |event: &str| objects.iter().filter(|object| object["event"] == event).collect::<Vec<_>>();
    let lines: Vec<(u64, String)> = (0..20).map(|number| (number + 1, format!("line {number}"))).collect();
    for event in ["message", "found"] {
        let texts: Vec<(u64, String)> = of(event)
            .iter()
            .map(|object| {
                (object["seq"].as_u64().unwrap_or(0), object["text"].as_str().unwrap_or("").to_owned())
            })
            .collect();
        assert_eq!(texts, lines, "{event}");
    }
    assert_eq!(of("joined")[0]["me"]["name"], "Script");
    let refused = of("refused");
    let reasons: Vec<&str> = refused.iter().filter_map(|object| object["reason"].as_str()).collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    for (reason, part) in reasons.iter().zip(["/search", "no such person", "no conversation is open"]) {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(said.complaints.contains("3 lines failed"), "{}", said.complaints);
}

#[test]
#[ignore = "needs throng"]
fn a_server_that_dies_and_comes_back_loses_and_repeats_nothing() {
    let (mut throng, lab) = (Throng::start(), Lab::new());
    let ann = lab.start(&["chat", &throng.lobby(), "--name", "Ann", "--json"]);
    wait_for_object(&ann, "Ann is in", |object| object["event"] == "joined");
    let mut bob = come_in(&lab, &throng, "Bob");
    let total = 90;
    for number in 0..total {
        bob.type_line(&format!("word {number}"));
        if number % 30 == 15 {
            let seq = number / 2;
            wait_for_object(&ann, "some of it", |object| {
                object["event"] == "message" && object["seq"].as_u64() >= Some(seq)
            });
            throng = throng.restarted();
        }
    }
    wait_for_object(&ann, "the last of it", |object| object["text"] == format!("word {}", total - 1));
    leave(bob);
    let said: Vec<(u64, String)> = objects(&ann)
        .iter()
        .filter(|object| object["event"] == "message")
        .map(|object| (object["seq"].as_u64().unwrap_or(0), object["text"].as_str().unwrap_or("").to_owned()))
        .collect();
    let expected: Vec<(u64, String)> =
        (0..total).map(|number| (number + 1, format!("word {number}"))).collect();
    assert_eq!(said, expected);
    leave(ann);
}

#[test]
#[ignore = "needs throng"]
fn who_cannot_come_in_is_told_why() {
    let (throng, lab) = (Throng::start(), Lab::new());
    let nowhere = throng.lobby().replace("/lobby", "/no-such-room");
    for (arguments, part) in [
        (&["chat", &nowhere, "--name", "Ann"][..], "cannot open #no-such-room of default"),
        (&["chat", &throng.lobby(), "--token", "no.such.token"], "cannot open"),
    ] {
        let ended = lab.ask(arguments);
        assert_eq!(ended.code, 4, "{}{}", ended.output, ended.complaints);
        assert!(
            ended.complaints.contains(part) && !ended.complaints.contains("no.such.token"),
            "{}",
            ended.complaints
        );
    }
}

fn on_terminal(lab: &Lab, throng: &Throng, name: &str) -> Terminal {
    let mut person = lab.start_on_terminal(&["chat", &throng.lobby(), "--name", name]);
    person.wait_for(&format!("you are {name}"));
    person
}

#[test]
#[ignore = "needs throng"]
fn the_screen_shows_conversations_with_what_is_unread_and_history_while_one_scrolls() {
    let (throng, lab) = (Throng::start(), Lab::new());
    let mut writer = come_in(&lab, &throng, "Writer");
    for number in 1..=90 {
        writer.type_line(&format!("word {number}."));
    }
    writer.wait_for("word 90.");
    let mut ann = on_terminal(&lab, &throng, "Ann");
    ann.wait_for("word 90.");
    wait_until("the first word is brought", || {
        ann.press(PAGE_UP);
        ann.screen().contains("word 1.")
    });
    ann.press(&format!("/dm Writer{ENTER}"));
    ann.wait_for("@Writer on");
    ann.press(&format!("psst{ENTER}"));
    writer.wait_for("[@Ann 1] Ann: psst");
    ann.press(&format!("/open lobby{ENTER}"));
    ann.wait_for("#lobby on");
    writer.type_line("/dm Ann | psst yourself");
    // The line of the conversation with one unread message.
    wait_until("it is unread", || {
        ann.screen().lines().any(|line| {
            line.contains("@Writer")
                && line.split('│').next().is_some_and(|row| row.trim_end().ends_with(" 1"))
        })
    });
    ann.press("\x0e");
    ann.wait_for("psst yourself");
    ann.press(CONTROL_C);
    assert_eq!(ann.ended().0, Some(0));
    leave(writer);
}
