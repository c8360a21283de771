//! The key figures, which most readers look for first.

use super::super::Run;
use super::super::chart::{Unit, escape, grouped};
use super::super::plots::memory_fits;
use super::super::text::times;
use super::page::Page;

pub(super) fn key_figures(page: &mut Page, run: &Run) {
    page.section("figures", "Key figures", |page| {
        let tiles: String = tiles(run).iter().map(Tile::html).collect();
        page.push(&format!("<div class=\"tiles\">\n{tiles}</div>\n"));
        let times = times(run);
        if !times.rows.is_empty() {
            page.push(&times.html());
        }
        page.push(&users(run));
        page.push(&deliveries(run));
    });
}

struct Tile {
    figure: String,
    name: &'static str,
    detail: String,
}

impl Tile {
    fn html(&self) -> String {
        format!(
            "<div class=\"tile\"><span>{}</span><b>{}</b><small>{}</small></div>\n",
            self.name,
            escape(&self.figure),
            escape(&self.detail)
        )
    }
}

fn tiles(run: &Run) -> Vec<Tile> {
    let (counts, times) = (&run.summary.counts, &run.summary.times);
    let mut tiles = vec![Tile {
        figure: grouped(counts.connected_max),
        name: "connected at most",
        detail: format!("{} users wanted", grouped(counts.users_wanted)),
    }];
    if times.latency.count > 0 {
        let time = |us: u64| Unit::Microseconds.format(us as f64);
        tiles.push(Tile {
            figure: time(times.latency.p99_us),
            name: "latency, p99",
            detail: format!("median {}, longest {}", time(times.latency.p50_us), time(times.latency.max_us)),
        });
    }
    if times.http.count > 0 {
        let time = |us: u64| Unit::Microseconds.format(us as f64);
        tiles.push(Tile {
            figure: time(times.http.p99_us),
            name: "HTTP request, p99",
            detail: format!("{} answered, {} failed", grouped(counts.http), grouped(counts.http_failed)),
        });
    }
    tiles.push(Tile {
        figure: Unit::PerSecond.format(counts.received as f64 / run.seconds()),
        name: "messages received",
        detail: format!("{} in all; {} sent", grouped(counts.received), grouped(counts.sent)),
    });
    if counts.expected > 0 {
        tiles.push(Tile {
            figure: Unit::Share.format(counts.delivered as f64 / counts.expected as f64),
            name: "delivered in time",
            detail: format!("{} lost, {} late", grouped(counts.lost), grouped(counts.late)),
        });
    }
    tiles.push(Tile {
        figure: grouped(counts.errors),
        name: "errors",
        detail: format!("{} connects failed", grouped(counts.connects_failed)),
    });
    if let Some((server, fit)) = memory_fits(run).into_iter().find_map(|one| Some((one.server, one.fit?))) {
        tiles.push(Tile {
            figure: format!("{:.0} B", fit.slope),
            name: "server memory",
            detail: format!("per connection, ± {:.0} B; {server}", fit.slope_error),
        });
    }
    tiles
}

/// Writes the outcome of all users that arrived.
fn users(run: &Run) -> String {
    let counts = &run.summary.counts;
    if counts.users == 0 {
        return String::new();
    }
    format!(
        "<p class=\"note\">Users: {} came = {} finished + {} failed + {} stopped with the run. Beside them: {} not started.\
         </p>\n",
        grouped(counts.users),
        grouped(counts.users_finished),
        grouped(counts.users_failed),
        grouped(counts.users_stopped),
        grouped(counts.users_dropped)
    )
}

/// Writes the equation that deliveries must satisfy, and beside it the counts that are not part of it.
fn deliveries(run: &Run) -> String {
    let counts = &run.summary.counts;
    if counts.expected == 0 {
        return String::new();
    }
    let sum = counts.delivered + counts.lost + counts.late + counts.in_flight;
    let equation = format!(
        "{} expected = {} delivered + {} lost + {} late + {} in flight",
        grouped(counts.expected),
        grouped(counts.delivered),
        grouped(counts.lost),
        grouped(counts.late),
        grouped(counts.in_flight)
    );
    let holds = if sum == counts.expected { "" } else { " — <b>this does not add up</b>" };
    let unjudged = match counts.unjudged {
        0 => String::new(),
        unjudged => format!(", {} between machines that cannot be judged", grouped(unjudged)),
    };
    format!(
        "<p class=\"note\">Deliveries: {equation}{holds}. Beside them: {} duplicates, {} reordered, {} unexpected, {} \
         without a stamp{unjudged}.</p>\n",
        grouped(counts.duplicates),
        grouped(counts.reordered),
        grouped(counts.unexpected),
        grouped(counts.unstamped)
    )
}
