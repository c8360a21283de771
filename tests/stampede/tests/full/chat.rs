//! `stampede chat` line by line: two people talk on Throng.

use stampede_tests::{Lab, Throng};

#[test]
#[ignore = "needs throng"]
fn two_people_talk_in_the_lobby() {
    let throng = Throng::start();
    let lab = Lab::new();
    let socket = throng.socket();
    let mut ann = lab.start(&["chat", &socket, "--name", "Ann"]);
    ann.wait_for(" joined ");
    let mut bob = lab.start(&["chat", &socket, "--name", "Bob"]);
    bob.wait_for(" joined ");
    bob.type_line("hello Ann");
    ann.wait_for("Bob: hello Ann");
    ann.type_line("hello Bob");
    bob.wait_for("Ann: hello Bob");
    for mut person in [bob, ann] {
        person.close_input();
        let ended = person.ended();
        assert_eq!(ended.code, 0, "{}{}", ended.output, ended.complaints);
    }
}

#[test]
#[ignore = "needs throng"]
fn a_chat_that_reaches_nobody_gives_up_with_exit_status_4() {
    let throng = Throng::start();
    let socket = throng.socket();
    throng.kill();
    let ended = Lab::new().ask(&["chat", &socket, "--name", "Ann"]);
    assert_eq!(ended.code, 4, "{}{}", ended.output, ended.complaints);
}

#[test]
#[ignore = "needs throng"]
fn chat_under_load_plays_a_room_full_of_talkers() {
    let throng = Throng::start();
    let socket = throng.socket();
    let ended =
        Lab::new().run(&["chat", &socket, "--load", "--clients", "10", "--rate", "5", "--seconds", "4"]);
    let summary = ended.summary();
    assert_eq!(summary.count("joins"), 10, "{}", ended.words());
    assert_eq!(summary.count("expected"), summary.count("sent") * 10);
    assert_eq!(summary.count("delivered"), summary.count("expected"), "{}", summary.0["counts"]);
}
