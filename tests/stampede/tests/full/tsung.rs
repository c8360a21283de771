//! Tsung's files of the seeds, run as they are but for the server's address and the size of the load.

use stampede_tests::{Lab, Throng};

const BLOG: &str = include_str!("../../../../crates/load/src/tsung/samples/blog.xml");
const SLIDES: &str = include_str!("../../../../crates/load/src/tsung/samples/slides.xml");

#[test]
#[ignore = "needs throng"]
fn the_blog_posts_file_runs_against_throng() {
    let throng = Throng::start();
    let configuration = lowered(BLOG, &throng).replace("\"server_ip_address\"", "\"127.0.0.1\"");
    assert_plays(&configuration);
}

#[test]
#[ignore = "needs throng"]
fn the_slides_file_runs_against_throng() {
    let throng = Throng::start();
    let configuration = lowered(SLIDES, &throng)
        .replace("duration=\"1\" unit=\"hour\"", "duration=\"5\" unit=\"second\"")
        .replace("\"server1\"", "\"127.0.0.1\"")
        .replace("\"server2\"", "\"127.0.0.1\"")
        .replace("10.9.195.12", "127.0.0.12")
        .replace("10.9.195.13", "127.0.0.13");
    assert_plays(&configuration);
}

fn lowered(configuration: &str, throng: &Throng) -> String {
    let port = throng.address().rsplit(':').next().expect("a port").to_owned();
    let load = [
        ("port=\"4000\"", format!("port=\"{port}\"")),
        ("duration=\"100\"", "duration=\"2\"".to_owned()),
        ("duration=\"10000\"", "duration=\"2\"".to_owned()),
        ("maxnumber=\"100000\"", "maxnumber=\"60\"".to_owned()),
        ("arrivalrate=\"1000\"", "arrivalrate=\"100\"".to_owned()),
        ("to=\"1000\"", "to=\"2\"".to_owned()),
        ("thinktime value=\"30\"", "thinktime value=\"1\"".to_owned()),
    ];
    load.into_iter().fold(configuration.to_owned(), |text, (from, to)| text.replace(from, &to))
}

/// Plays a configuration: 60 users who connect, join and think.
fn assert_plays(configuration: &str) {
    let lab = Lab::new();
    let path = lab.file("tsung.xml", configuration);
    let ended = lab.run(&["run", path.to_str().expect("its name is text")]);
    let summary = ended.summary();
    assert_eq!(summary.count("users_wanted"), 60, "{}", ended.words());
    assert_eq!((summary.count("users"), summary.count("connects")), (60, 60), "{}", summary.0["errors"]);
    assert_eq!(summary.count("sent"), 60, "each sends its join as a raw message");
    // The reply of each join, and nothing that is an error.
    assert!(summary.count("received") >= 60, "{}", summary.0["counts"]);
    assert_eq!(summary.count("users_finished"), 60, "{}", summary.0["errors"]);
    assert_eq!(summary.count("errors"), 0, "{}", summary.0["errors"]);
}
