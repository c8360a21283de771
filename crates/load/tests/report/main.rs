//! Tests of the contents and the form of reports of generated runs.

mod comparing;
mod generated;

use generated::Shape;
use load::report::chart::{self, Place, Size};
use load::report::{self, Plot, ReportError, Run, Style};
use load::statistics::{SeriesRow, Spread};

fn crowd() -> Run {
    generated::run(&Shape {
        name: "crowd <b>of</b> 1,000 & more",
        seed: 7,
        seconds: 120,
        users: 1_000,
        median_us: 2_500.0,
        sigma: 0.6,
        lost: 20,
    })
}

fn configurations() -> Vec<Run> {
    let shape =
        |name, median_us, lost| Shape { name, seed: 1, seconds: 30, users: 50, median_us, sigma: 0.7, lost };
    [shape("4 clients", 9e3, 0), shape("8 clients", 9e5, 400), shape("16 clients", 6e6, 9_000)]
        .iter()
        .map(generated::run)
        .collect()
}

fn all_plots() -> Vec<Plot> {
    [report::plots(&crowd()), report::configurations(&configurations())].concat()
}

const SIZES: [Size; 4] = [Size::WIDE, Size::HALF, Size::NARROW, Size::ALONE];

#[test]
fn every_picture_is_xml_without_a_number_that_is_none() {
    let empty = [report::plots(&Run::default()), report::configurations(&[])].concat();
    for plot in all_plots().iter().chain(&empty) {
        for size in SIZES {
            let svg = plot.chart.svg(size, Place::Alone);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", plot.name);
            roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{}: {error}\n{svg}", plot.name));
        }
    }
}

#[test]
fn every_series_has_its_line_and_its_name() {
    for plot in all_plots() {
        let chart::Figure::Lines(lines) = &plot.chart.figure else { continue };
        if plot.chart.is_empty() {
            continue;
        }
        let svg = plot.chart.svg(Size::WIDE, Place::Alone);
        let document = roxmltree::Document::parse(&svg).expect("an SVG");
        let strokes = document.descendants().filter(|node| {
            let class = node.attribute("class").unwrap_or_default();
            node.has_tag_name("path") && (class.starts_with("line-") || class.starts_with("dash-"))
        });
        assert_eq!(strokes.count(), lines.series.len(), "{}", plot.name);
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        for series in lines.series.iter().filter(|_| lines.series.len() > 1) {
            assert!(texts.contains(&series.name.as_str()), "{}: {}", plot.name, series.name);
        }
    }
}

#[test]
fn nothing_leaves_its_picture_and_no_two_texts_overlap() {
    for plot in all_plots() {
        for size in SIZES {
            let svg = plot.chart.svg(size, Place::Alone);
            let document = roxmltree::Document::parse(&svg).expect("an SVG");
            let texts: Vec<(f64, f64, f64, &str)> = document
                .descendants()
                .filter(|node| node.has_tag_name("text") && node.attribute("transform").is_none())
                .map(|node| {
                    let number = |name| {
                        node.attribute(name).and_then(|text| text.parse::<f64>().ok()).expect("a place")
                    };
                    let text = node.text().unwrap_or_default();
                    // Per glyph half a pixel less than the browsers' average, so that whatever overlaps here also
                    // overlaps there.
                    let width = text.chars().count() as f64 * 5.4;
                    let left = match node.attribute("text-anchor") {
                        Some("end") => number("x") - width,
                        Some("middle") => number("x") - width / 2.0,
                        _ => number("x"),
                    };
                    (left, left + width, number("y"), text)
                })
                .filter(|(_, _, _, text)| !text.is_empty())
                .collect();
            for (index, one) in texts.iter().enumerate() {
                let inside = one.0 >= -12.0 && one.1 <= size.width + 12.0 && one.2 <= size.height + 10.0;
                assert!(inside, "{} at {size:?}: {one:?}", plot.name);
                for other in &texts[index + 1..] {
                    let apart = one.1 <= other.0 || other.1 <= one.0 || (one.2 - other.2).abs() >= 10.0;
                    assert!(apart, "{} at {size:?}: {one:?} and {other:?}", plot.name);
                }
            }
        }
    }
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let runs = configurations();
    let folder = tempfile::tempdir().expect("a folder");
    report::write_configurations(folder.path(), &runs).expect("a report");
    let several = std::fs::read_to_string(folder.path().join("report.html")).expect("a page");
    for page in [report::html(&crowd()), report::html(&Run::default()), several] {
        let text = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for foreign in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!text.contains(foreign), "{foreign}");
        }
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        for (open, close) in [
            ("<section", "</section>"),
            ("<figure>", "</figure>"),
            ("<div", "</div>"),
            ("<table", "</table>"),
        ] {
            assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
        }
    }
}

#[test]
fn what_others_said_is_text() {
    let page = report::html(&crowd());
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    assert!(!page.contains("<b>of</b>") && page.contains("crowd &lt;b&gt;of&lt;/b&gt; 1,000 &amp; more"));
}

#[test]
fn the_sections_stand_in_the_order_of_the_questions() {
    let page = report::html(&crowd());
    let ids = [
        "verdict",
        "findings",
        "figures",
        "machines",
        "users",
        "growth",
        "latency",
        "generator",
        "throughput",
        "errors",
        "fan-out",
        "servers",
        "tsung",
        "wsdemo",
    ];
    let places: Vec<usize> = ids
        .iter()
        .map(|id| page.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no section {id}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains(">VALID<") && !page.contains(">INVALID<"));
}

#[test]
fn an_invalid_run_says_so_first_and_why() {
    let mut run = crowd();
    run.summary.verdict.valid = false;
    run.summary.verdict.reasons = vec!["the send lag's p99 was 212 ms".to_owned()];
    let page = report::html(&run);
    let (word, why) = (page.find(">INVALID<"), page.find("212 ms"));
    assert!(word < why && why < page.find("id=\"findings\"") && word.is_some());
    let text = report::text(&run, Style::Plain);
    assert_eq!(text.lines().nth(2), Some("INVALID"), "below scenario and folder: {text}");
}

#[test]
fn a_run_in_which_nothing_was_measured_is_said_to_be_that() {
    let page = report::html(&Run::default());
    for words in [
        "Nothing stands out.",
        "Nothing was measured.",
        "No errors.",
        "No publication had several receivers.",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("NaN"));
    assert!(!report::text(&Run::default(), Style::Plain).contains("NaN"));
}

#[test]
fn the_files_are_a_page_and_two_pictures_of_each_chart() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |second| SeriesRow { second, users: 5, errors: 1, ..SeriesRow::default() };
    let run = Run { series: vec![row(0), row(1)], ..Run::default() };
    let (written, fonts) = match report::write(folder.path(), &run) {
        Ok(written) => (written, true),
        Err(ReportError::NoFonts { written }) => (written, false),
        Err(error) => panic!("{error}"),
    };
    let charts = report::plots(&run).iter().filter(|plot| !plot.chart.is_empty()).count();
    assert_eq!(written.len(), 1 + charts * if fonts { 2 } else { 1 });
    for path in written {
        let content = std::fs::read(&path).expect("a file that was said to be written");
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("png") => {
                assert!(content.starts_with(b"\x89PNG\r\n\x1a\n") && content.len() > 2_000, "{path:?}")
            }
            Some("svg") => assert!(content.starts_with(b"<svg"), "{path:?}"),
            Some("html") => assert!(content.starts_with(b"<!doctype html>"), "{path:?}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_run_is_headed_by_its_scenario_with_what_tells_it_from_others_beneath() {
    let run = Run { configuration: "20260102-030405-crowd".to_owned(), ..crowd() };
    let (page, text) = (report::html(&run), report::text(&run, Style::Plain));
    assert!(page.contains("<h1>crowd</h1>"), "{text}");
    let facts = page.split_once("<p class=\"facts\">").and_then(|(_, rest)| rest.split_once("</p>"));
    let facts = facts.map(|(facts, _)| facts).unwrap_or_default();
    assert!(facts.starts_with(&format!("{} · started ", run.configuration)), "{facts}");
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("crowd  seed")), "{text}");
    assert_eq!(lines.next(), Some(run.configuration.as_str()));
}

#[test]
fn thresholds_are_told_with_their_unit_everywhere() {
    let run = crowd();
    let (page, text) = (report::html(&run), report::text(&run, Style::Plain));
    assert!(text.contains("FAILED p99 < 100ms (182 ms)"), "{text}");
    assert!(text.contains("holds  error_rate < 0.1% (0.02 %)"), "{text}");
    assert!(page.contains("<code>p99 &lt; 100ms</code> — measured: 182 ms"));
    assert!(page.contains("<code>error_rate &lt; 0.1%</code> — measured: 0.02 %"));
}

#[test]
fn a_file_in_the_way_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plots"), "not a folder").expect("a file");
    let error = report::write(folder.path(), &Run::default()).expect_err("plots is a file");
    assert!(error.to_string().contains("plots"), "{error}");
}

#[test]
fn the_terminal_gets_no_escape_sequences_from_a_peer() {
    let mut run = crowd();
    run.summary.errors[0].example = "\u{1b}[2Jgone\r\n".to_owned();
    run.configuration = "\u{1b}]0;title\u{7}".to_owned();
    assert!(!report::text(&run, Style::Plain).contains('\u{1b}'));
    let coloured = report::text(&run, Style::Coloured);
    assert!(
        !coloured.contains("\u{1b}[2J")
            && !coloured.contains("\u{1b}]0")
            && coloured.contains("\u{1b}[1;32mVALID")
    );
}

#[test]
fn the_tables_count_what_the_summary_counts() {
    let run = crowd();
    let tables = report::tsung(&run);
    let text = tables.counters.text();
    let line = text.lines().find(|line| line.starts_with("websocket_connected")).expect("a row");
    assert!(line.ends_with("1,000"), "{line}");
    assert!(tables.errors.text().contains("error_disconnect_closed_1011"));
    assert!(tables.transactions.text().contains("tr_say hello"));
    assert!(
        report::wsdemo(&run)
            .text()
            .lines()
            .any(|line| line.starts_with("connections") && line.ends_with("1,000"))
    );
}

#[test]
fn page_and_terminal_say_how_users_ended_and_what_the_generator_did() {
    let mut run = crowd();
    run.summary.counts.users_stopped = 17;
    run.summary.times.http_intended = Spread { count: 3, ..Spread::default() };
    run.summary.generator.read_lag = Spread { count: 5, ..Spread::default() };
    run.summary.generator.cpu_wait = Spread { count: 6, ..Spread::default() };
    run.summary.times.begin_lag = Spread { count: 4, ..Spread::default() };
    let (page, text) = (report::html(&run), report::text(&run, Style::Plain));
    assert!(text.contains("17 stopped with the run"), "{text}");
    assert!(page.contains("17 stopped with the run"));
    for words in [
        "HTTP request from when it was due",
        "begin lag of the generator",
        "read lag of the generator",
        "wait of the generator for a CPU",
        "engine-0 48.0 %, engine-1 31.0 %, collector 3.00 %",
        "250,000 entries at most, 500 in the longest",
        "samples of servers failed",
    ] {
        assert!(page.contains(words) && text.contains(words), "{words}: {text}");
    }
}
