//! Whole files: the two of the Phoenix team, one with every element, and invalid ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::draw::Distribution;
use crate::scenario::plan::{Action, Arrivals, Body, Dialect, Loop, Plan};
use crate::scenario::template::{Part, Template};
use crate::scenario::{Context, parse};

const BLOG: &str = include_str!("samples/blog.xml");
const SLIDES: &str = include_str!("samples/slides.xml");
/// The file of the blog post, as Tsung runs it against Throng.
const LOBBY: &str = include_str!("../../../../tests/tsung/lobby.xml");
const EVERYTHING: &str = include_str!("samples/everything.xml");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tsung/samples")
}

fn imported(text: &str) -> Imported {
    import(text, "sample.xml").unwrap_or_else(|errors| panic!("{errors}"))
}

fn plan(imported: &Imported) -> Plan {
    let base_dir = folder();
    let context = Context { file_name: "sample.yaml", base_dir: &base_dir };
    imported
        .scenario
        .compile(&context)
        .unwrap_or_else(|errors| panic!("{errors}\n{}", imported.scenario.to_yaml()))
}

fn lines(expected: &str) -> Vec<&str> {
    expected.trim().lines().map(str::trim_end).collect()
}

#[test]
fn the_file_of_the_blog_post_becomes_its_plan() {
    let imported = imported(BLOG);
    assert_eq!(imported.unsupported().count(), 0);
    let plan = plan(&imported);
    assert_eq!(plan.targets.len(), 1);
    assert_eq!((plan.targets[0].host.as_str(), plan.targets[0].port), ("server_ip_address", 4000));
    assert!(!plan.targets[0].tls);
    assert_eq!(plan.sources.ports, Some((1025, 65_535)));
    assert_eq!((plan.load.rounds, plan.load.duration), (1, None));
    let [phase] = plan.load.phases.as_slice() else { panic!("{:?}", plan.load.phases) };
    assert_eq!(phase.arrivals, Arrivals::Poisson(1000.0));
    assert_eq!(phase.duration, Some(Duration::from_secs(100)));
    assert_eq!(phase.users_max, Some(100_000));
    assert_joins_and_thinks(&plan, "\n{\"user\":\"");
}

#[test]
fn the_file_of_the_slides_becomes_its_plan() {
    let imported = imported(SLIDES);
    assert_eq!(imported.unsupported().count(), 0);
    let plan = plan(&imported);
    let targets: Vec<(&str, f64)> =
        plan.targets.iter().map(|target| (target.host.as_str(), target.weight)).collect();
    assert_eq!(targets, [("server1", 4.0), ("server2", 1.0)]);
    let addresses: Vec<String> = plan.sources.addresses.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["10.9.195.12", "10.9.195.13"]);
    assert_eq!(plan.load.duration, Some(Duration::from_secs(3600)));
    let [phase] = plan.load.phases.as_slice() else { panic!("{:?}", plan.load.phases) };
    assert_eq!(phase.arrivals, Arrivals::Poisson(1000.0));
    assert_eq!(phase.duration, Some(Duration::from_secs(10_000)));
    assert_eq!(phase.users_max, Some(100_000));
    assert_joins_and_thinks(&plan, "\n          {\"user\":\"");
}

/// Connect, join with a per-user number, wait for the reply, and think 1,000 times for half a minute.
fn assert_joins_and_thinks(plan: &Plan, payload: &str) {
    let [session] = plan.sessions.as_slice() else { panic!("{:?}", plan.sessions) };
    let actions: Vec<&Action> = session.steps.iter().map(|step| &step.action).collect();
    let [Action::Connect(connect), Action::Send(send), Action::Wait(wait), Action::Loop(looping)] =
        actions.as_slice()
    else {
        panic!("{actions:?}")
    };
    assert_eq!(connect.path, Template::text("/socket/websocket"));
    assert_eq!(connect.dialect, Dialect::Raw);
    assert!(send.binary, "Tsung's frames are binary unless it is said");
    let Body::Template(message) = &send.body else { panic!("{:?}", send.body) };
    let begin = format!("{{\"topic\":\"rooms:lobby\", \"event\":\"phx_join\", \"payload\":{payload}");
    let expected = [Part::Text(begin), Part::UniqueId, Part::Text("\"}, \"ref\":\"1\"}".to_owned())];
    assert_eq!(message.parts, expected);
    assert_eq!((wait.count, wait.timeout, wait.required), (1, Duration::from_secs(600), true));
    let Loop { times: Some(Distribution::Constant(times)), steps, .. } = looping else {
        panic!("{looping:?}")
    };
    assert_eq!(*times, 1000.0);
    let [step] = steps.as_slice() else { panic!("{steps:?}") };
    assert!(matches!(step.action, Action::Think(Distribution::Constant(seconds)) if seconds == 30.0));
}

#[test]
fn a_printed_scenario_compiles_to_the_same_plan() {
    for text in [BLOG, SLIDES, LOBBY, EVERYTHING] {
        let imported = imported(text);
        let yaml = imported.scenario.to_yaml();
        let printed = parse(&yaml, "sample.yaml", &folder(), &BTreeMap::new())
            .unwrap_or_else(|errors| panic!("{errors}\n{yaml}"));
        assert_eq!(format!("{printed:#?}"), format!("{:#?}", plan(&imported)), "{yaml}");
    }
}

#[test]
fn the_scenario_of_the_blog_post_is_readable() {
    assert_eq!(lines(&imported(BLOG).scenario.to_yaml()), lines(include_str!("samples/blog.yaml")));
}

#[test]
fn each_element_of_the_vocabulary_is_remarked_on() {
    let report = imported(EVERYTHING).report_as_text();
    assert_eq!(lines(&report), lines(include_str!("samples/everything.txt")));
}

#[test]
fn what_every_element_becomes_is_as_expected() {
    assert_eq!(
        lines(&imported(EVERYTHING).scenario.to_yaml()),
        lines(include_str!("samples/everything.yaml"))
    );
}

#[test]
fn no_element_of_a_file_is_without_a_remark() {
    let report = imported(EVERYTHING).report;
    let document = roxmltree::Document::parse_with_options(
        EVERYTHING,
        roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() },
    )
    .expect("a well-formed sample");
    // These become part of what their parents are translated to.
    let parts = ["name", "description", "var"];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let line = document.text_pos_at(node.range().start).row;
        let is_remarked = report.iter().any(|remark| remark.element == name && remark.line == line);
        assert!(is_remarked || parts.contains(&name), "{name} in line {line}");
    }
}

#[test]
fn the_report_is_a_list_of_objects_too() {
    let report = imported(BLOG).report_as_json();
    let client = &report[3];
    assert_eq!(client["line"], 5);
    assert_eq!(client["element"], "client");
    assert_eq!(client["attribute"], serde_json::Value::Null);
    assert_eq!(client["verdict"], "approximated");
    assert_eq!(client["what"], "its users are played by the machine that runs the scenario");
    assert!(client["note"].as_str().is_some_and(|note| note.contains("phoenix1")));
}

#[test]
fn what_stands_after_the_document_is_left_out_as_tsung_does() {
    let text = format!("{BLOG}\n</session>\n</sessions>\n</tsung>\n");
    let with_rest = imported(&text);
    assert_eq!(with_rest.scenario, imported(BLOG).scenario);
    assert!(with_rest.report_as_text().contains("what stands after the document is left out"));
}

/// Returns a file with one server, one phase and one session; each part can be replaced.
fn file(server: &str, load: &str, sessions: &str) -> String {
    let server = or(server, r#"<server host="a" port="1" type="tcp"/>"#);
    let users = r#"<users arrivalrate="1" unit="second"/>"#;
    let load = match load {
        "" => format!(r#"<arrivalphase phase="1" duration="1" unit="second">{users}</arrivalphase>"#),
        load => load.replace("USERS", users),
    };
    let sessions = or(
        sessions,
        r#"<session name="s" probability="100" type="ts_websocket"><thinktime value="1"/></session>"#,
    );
    format!(
        "<tsung>\n<clients><client host=\"localhost\"/></clients>\n<servers>{server}</servers>\n<load>{load}</load>\n\
         <sessions>\n{sessions}\n</sessions>\n</tsung>"
    )
}

fn or<'t>(text: &'t str, default: &'t str) -> &'t str {
    if text.is_empty() { default } else { text }
}

fn session(steps: &str) -> String {
    file(
        "",
        "",
        &format!("<session name=\"s\" probability=\"100\" type=\"ts_websocket\">\n{steps}\n</session>"),
    )
}

#[test]
fn errors_say_where_and_what() {
    let table: Vec<(String, &str)> = vec![
        ("hello".to_owned(), "error: the file is not well-formed XML: unknown token at 1:1\n  --> t.xml:1"),
        (
            "<html/>".to_owned(),
            "error: this is not a Tsung file: its root element is `html`, not `tsung`\n  --> t.xml:1",
        ),
        (
            "<tsung>&session;</tsung>".to_owned(),
            "error: the file is not well-formed XML: unknown entity reference 'session' at 1:8\n  --> t.xml:1\n   = \
             entities of other files are not read: put the file's text in the place of the entity",
        ),
        (
            file(r#"<server host="a" port="x" type="tcp"/>"#, "", ""),
            "error: `x` is not a port, 1 to 65535\n  --> t.xml:3 (server@port)",
        ),
        (
            file(r#"<server host="a" port="1" type="udp"/>"#, "", ""),
            "error: servers of type `udp` are not played\n  --> t.xml:3 (server@type)\n   = what is played is tcp, \
             ssl, ws and wss",
        ),
        (
            file("", r#"<arrivalphase phase="1" duration="ten" unit="second">USERS</arrivalphase>"#, ""),
            "error: `ten` is not a whole number, 0 or more\n  --> t.xml:4 (arrivalphase@duration)",
        ),
        (
            file("", r#"<arrivalphase phase="1" duration="1" unit="day">USERS</arrivalphase>"#, ""),
            "error: `day` is none of its values\n  --> t.xml:4 (arrivalphase@unit)\n   = allowed: `second`, `minute`, \
             `hour`, `millisecond`",
        ),
        (
            session(r#"<thinktme value="1"/><thinktime value="1"/>"#),
            "error: `thinktme` cannot stand in `session`\n  --> t.xml:7 (thinktme)\n   = did you mean `thinktime`? \
             Allowed: `request`, `thinktime`, `transaction`, `setdynvars`, `for`, `foreach`, `repeat`, `if`, \
             `change_type`, `set_option`, `interaction`, `abort`",
        ),
        (
            session(r#"<thinktime valeu="1" value="1"/>"#),
            "error: `thinktime` has no such attribute\n  --> t.xml:7 (thinktime@valeu)\n   = did you mean `value`? \
             Allowed: `value`, `random`, `min`, `max`",
        ),
        (
            session(r#"<request><websocket type="disconnect"/></request><thinktime value="1"/>"#),
            "error: `disconnect` is none of its values\n  --> t.xml:7 (websocket@type)\n   = did you mean `connect`? \
             Allowed: `connect`, `message`, `close`",
        ),
        (
            file(
                "",
                "",
                "<session name=\"a\" probability=\"50\" type=\"ts_http\"><thinktime value=\"1\"/></session>\n<session \
                 name=\"b\" weight=\"1\" type=\"ts_http\"><thinktime value=\"1\"/></session>",
            ),
            "error: `weight` here and `probability` in line 6: a file uses one of them\n  --> t.xml:7 \
             (session@weight)",
        ),
        (
            file("", "", r#"<session name="mail" probability="100" type="ts_jabber"/>"#),
            "error: session `mail` is of type ts_jabber, which is not played\n  --> t.xml:6 (session@type)\n   = \
             sessions of type ts_websocket and ts_http are played; give it the probability 0 to leave it out",
        ),
        (
            session("<thinktime/>"),
            "error: how long is this pause?\n  --> t.xml:7 (thinktime)\n   = give it a `value`, or set a default by \
             `<option name=\"thinktime\" value=\"…\"/>`",
        ),
        (
            session("<repeat name=\"r\"><thinktime value=\"1\"/></repeat><thinktime value=\"1\"/>"),
            "error: a repeat ends with one `while` or `until`\n  --> t.xml:7 (repeat)",
        ),
        (
            session("<for var=\"i\" to=\"3\"><thinktime value=\"1\"/></for>"),
            "error: `from` is missing\n  --> t.xml:7 (for@from)",
        ),
        (
            file("", r#"<user session="other"/>"#, ""),
            "error: there is no session `other`\n  --> t.xml:4 (user@session)\n   = allowed: `s`",
        ),
    ];
    for (text, expected) in table {
        let errors = import(&text, "t.xml").expect_err(&text);
        assert_eq!(errors.to_string(), expected);
    }
}

#[test]
fn the_users_of_a_phase_are_its_time_by_its_rate_or_the_maximum() {
    for (phase, users) in [
        (r#"duration="10" unit="second"><users arrivalrate="2.5" unit="second"/>"#, Some(25)),
        (r#"duration="10" unit="second"><users arrivalrate="2.5" unit="second" maxnumber="7"/>"#, Some(7)),
        (r#"duration="1" unit="minute"><users interarrival="7" unit="second"/>"#, Some(9)),
        (r#"duration="2" unit="hour"><users interarrival="0.5" unit="minute"/>"#, Some(240)),
        (r#"duration="100" unit="millisecond"><users interarrival="1" unit="second"/>"#, None),
    ] {
        let text = file("", &format!(r#"<arrivalphase phase="1" {phase}</arrivalphase>"#), "");
        let scenario = imported(&text).scenario;
        assert_eq!(scenario.phases[0].max_users, users, "{phase}");
        assert_eq!(scenario.phases[0].pause.is_some(), users.is_none(), "{phase}");
    }
}

#[test]
fn phases_are_played_by_their_numbers_and_loops_are_rounds() {
    let load = r#"<arrivalphase phase="2" duration="2" unit="second">USERS</arrivalphase>
        <arrivalphase phase="1" duration="1" unit="second">USERS</arrivalphase>"#;
    let text = file("", load, "").replace("<load>", "<load loop=\"2\">");
    let scenario = imported(&text).scenario;
    let durations: Vec<String> =
        scenario.phases.iter().filter_map(|phase| phase.duration).map(|d| d.to_string()).collect();
    assert_eq!((durations, scenario.rounds), (vec!["1s".to_owned(), "2s".to_owned()], 3));
}

#[test]
fn a_session_that_is_not_played_goes_if_nobody_plays_it() {
    let sessions = r#"<session name="mail" probability="0" type="ts_jabber"><request><jabber/></request></session>
        <session name="web" probability="100" type="ts_http"><thinktime value="1"/></session>"#;
    let imported = imported(&file("", "", sessions));
    let names: Vec<&str> = imported.scenario.sessions.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(names, ["web"]);
    assert_eq!(imported.scenario.target.as_deref(), Some("http://a:1"));
    assert_eq!(imported.unsupported().count(), 1);
}

#[test]
fn a_deep_document_is_refused() {
    let steps = format!("{}{}", "<transaction name=\"t\">".repeat(100_000), "</transaction>".repeat(100_000));
    let errors = import(&session(&steps), "t.xml").expect_err("too deep");
    assert!(errors.to_string().contains("more than 64 elements within each other"), "{errors}");
}

#[test]
fn entities_that_expand_without_end_are_refused() {
    let mut entities = "<!ENTITY a0 \"aaaaaaaaaa\">".to_owned();
    for level in 1..10 {
        let references = format!("&a{};", level - 1).repeat(10);
        entities.push_str(&format!("<!ENTITY a{level} \"{references}\">"));
    }
    let text = format!("<!DOCTYPE tsung [{entities}]><tsung>&a9;</tsung>");
    assert!(import(&text, "t.xml").is_err());
}

mod mutations {
    use proptest::prelude::*;

    use super::*;

    /// Tokens that have a meaning in such files.
    const PIECES: [&str; 12] =
        ["\"", "<", ">", "/>", "&", "%%", "-1", "0", "99999999999999999999", "{{", "\\", "é"];

    fn compiles_or_complains(text: &str) {
        if let Ok(imported) = import(text, "t.xml") {
            let yaml = imported.scenario.to_yaml();
            let base_dir = folder();
            let context = Context { file_name: "t.yaml", base_dir: &base_dir };
            let _ = imported.scenario.compile(&context);
            let _ = parse(&yaml, "t.yaml", &base_dir, &BTreeMap::new());
        }
    }

    fn floor(text: &str, mut place: usize) -> usize {
        place = place.min(text.len());
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    }

    proptest! {
        #[test]
        fn changed_files_never_cause_a_panic(
            edits in proptest::collection::vec((0..EVERYTHING.len(), 0_usize..8, 0..PIECES.len()), 1..4)
        ) {
            let mut text = EVERYTHING.to_owned();
            for (place, length, piece) in edits {
                let (begin, end) = (floor(&text, place), floor(&text, place + length));
                text.replace_range(begin..end, PIECES[piece]);
            }
            compiles_or_complains(&text);
        }

        #[test]
        fn changed_attributes_never_cause_a_panic(
            edits in proptest::collection::vec((0_usize..400, "[-a-z0-9.%_*{}$ \\\\]{0,12}"), 1..6)
        ) {
            let mut text = EVERYTHING.to_owned();
            for (number, value) in edits {
                let quotes: Vec<usize> = text.match_indices('"').map(|(place, _)| place).collect();
                let Some([begin, end]) = quotes.chunks_exact(2).nth(number) else { continue };
                text.replace_range(begin + 1..*end, &value);
            }
            compiles_or_complains(&text);
        }
    }
}
