//! What a person sees on a terminal, and the keys that they press.

use std::fs;

use stampede_tests::{Lab, echo, rooms};

const ENTER: &str = "\r";
const CONTROL_C: &str = "\x03";

#[test]
fn two_people_talk_in_a_room_by_url_on_the_whole_screen() {
    let (server, messages) = rooms();
    let lab = Lab::new();
    let url = format!("{}/garden", server.url());
    let mut ann = lab.start_on_terminal(&["chat", &url, "--name", "Ann"]);
    ann.wait_for("you are Ann");
    let mut bob = lab.start_on_terminal(&["chat", &url, "--name", "Bob"]);
    bob.wait_for("you are Bob");
    assert!(ann.is_whole() && bob.is_whole());

    ann.press("hello Bib\x7f\x7fob");
    let typed = ann.wait_for("> hello Bob");
    assert_eq!(typed.trim_end(), "> hello Bob", "a key that deletes deletes");
    ann.press(ENTER);
    let heard = bob.wait_for("hello Bob");
    assert!(heard.contains("Ann"), "{heard}");
    bob.press(&format!("good day{ENTER}"));
    let heard = ann.wait_for("good day");
    assert!(heard.contains("Bob"), "{heard}");
    assert_eq!(messages.count(), 2);
    assert!(!ann.screen().contains("> hello"), "what was sent is gone from the line:\n{}", ann.screen());

    bob.press(CONTROL_C);
    assert_eq!(bob.ended().0, Some(0));
    ann.press(&format!("/quit{ENTER}"));
    assert_eq!(ann.ended().0, Some(0));
}

#[test]
fn a_chat_on_the_screen_answers_its_commands_and_scrolls() {
    let (server, _) = rooms();
    let lab = Lab::new();
    let mut ann = lab.start_on_terminal(&["chat", &format!("{}/garden", server.url()), "--name", "Ann"]);
    ann.wait_for("you are Ann");
    ann.press(&format!("/help{ENTER}"));
    ann.wait_for("/who lists who is present");
    // More than the screen has lines.
    for number in 0..40 {
        ann.press(&format!("word {number}.{ENTER}"));
        ann.wait_for(&format!("word {number}."));
    }
    assert!(!ann.screen().contains("word 0."), "{}", ann.screen());
    ann.press("\x1b[5~\x1b[5~");
    ann.wait_for("scrolled back");
    ann.wait_for("word 0.");
    ann.press("\x1b[A");
    ann.wait_for("> word 39.");
    ann.press(CONTROL_C);
    assert_eq!(ann.ended().0, Some(0));
}

#[test]
fn a_run_is_shown_on_the_whole_screen_until_a_key_stops_it_and_the_report_follows() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let path = lab.file("scenario.yaml", &crate::endless_echoes(&server.url(), 7));
    let scenario = path.to_str().expect("its name is text");
    let mut run = lab.start_on_terminal(&["run", scenario, "--out", "runs"]);
    run.wait_for("Stampede  echoes");
    assert!(run.is_whole());
    messages.wait_for(100);
    run.wait_for("VALID so far");
    run.wait_for("phase 1 of 1");
    run.press("q");
    let (code, screen) = run.ended();
    let folder =
        fs::read_dir(lab.path("runs")).expect("a folder").next().expect("a run").expect("its folder");
    let text = fs::read_to_string(folder.path().join("summary.json")).expect("a summary");
    let summary = stampede_tests::Summary(serde_json::from_str(&text).expect("JSON"));
    assert_eq!(summary.0["ended_by"], "stopped");
    assert_eq!(code, Some(summary.exit_code()), "{screen}");
    assert!(screen.contains("report: "), "{screen}");
}
