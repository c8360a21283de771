//! A reading as text in columns, for terminals and files.

use super::look::Look;
use crate::status::{ComponentStatus, ReaderStatus, Status};
use ::doctor::amounts::{bytes, grouped};

/// Number of components that are listed separately; empty ones are left out.
const COMPONENTS_MAX: usize = 16;
const NAME_WIDTH: usize = 20;

/// A heading and its lines.
pub(super) struct Table {
    pub(super) title: &'static str,
    pub(super) lines: Vec<String>,
}

/// Formats one line of figures.
pub(super) fn line(look: &Look) -> String {
    let Status { connections, memory, .. } = &look.status;
    let rates = look.rates.unwrap_or_default();
    format!(
        "connections {}  joined {}  +{:.0}/s  -{:.0}/s  in {:.0}/s  out {:.0}/s  dropped {:.0}/s  busiest shard {:.0} %  \
         memory {}  outboxes {}",
        grouped(connections.open),
        grouped(connections.joined),
        rates.accepted,
        rates.closed,
        rates.messages_in,
        rates.messages_out,
        rates.dropped,
        rates.busiest_shard * 100.0,
        bytes(memory.resident_bytes),
        bytes(look.status.shards.iter().map(|shard| shard.outbox_bytes).sum()),
    )
}

/// Formats everything, one table below the other; `busy` as for [`shards`].
pub(super) fn all(look: &Look, busy: &[f64]) -> String {
    let tables = [
        figures(look),
        shards(look, busy),
        memory(&look.status),
        topics(&look.status),
        readers(&look.status),
    ];
    let mut text = String::new();
    for Table { title, lines } in tables {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(title);
        text.push('\n');
        for line in lines {
            text.push_str("  ");
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// Totals, and rates per second.
pub(super) fn figures(look: &Look) -> Table {
    let Status { connections, totals, .. } = &look.status;
    let rates = look.rates.unwrap_or_default();
    let pair =
        |name: &str, now: u64, rate: f64| format!("{name:<14}{:>15}{:>13}/s", grouped(now), per_second(rate));
    let volume = |name: &str, total: u64, rate: f64| {
        format!("{name:<14}{:>15}{:>13}/s", bytes(total), bytes(rate as u64))
    };
    let lines = vec![
        format!("{:<14}{:>15}", "connections", grouped(connections.open)),
        format!("{:<14}{:>15}", "joined", grouped(connections.joined)),
        format!("{:<14}{:>15}", "topics", grouped(connections.topics)),
        format!("{:<14}{:>15}", "long-polling", grouped(connections.longpoll_sessions)),
        format!("{:<14}{:>15}", "joins waiting", grouped(connections.joins_waiting)),
        pair("accepted", totals.accepted, rates.accepted),
        pair("closed", totals.closed, rates.closed),
        pair("rejected", totals.rejected, rates.rejected),
        pair("joins", totals.joins, rates.joins),
        pair("messages in", totals.messages_in, rates.messages_in),
        pair("messages out", totals.messages_out, rates.messages_out),
        volume("bytes in", totals.bytes_in, rates.bytes_in),
        volume("bytes out", totals.bytes_out, rates.bytes_out),
        pair("dropped", totals.dropped, rates.dropped),
        pair("closed as slow", totals.slow_consumers, 0.0).trim_end_matches("0/s").trim_end().to_owned(),
    ];
    Table { title: "Totals and rates", lines }
}

/// The load of each shard. `busy` contains each shard's share of busy time, as far as it is known.
pub(super) fn shards(look: &Look, busy: &[f64]) -> Table {
    let mut lines = vec![format!(
        "{:<6}{:>13}{:>10}{:>12}{:>7}{:>13}",
        "shard", "connections", "mailbox", "outboxes", "busy", "longest turn"
    )];
    lines.extend(look.status.shards.iter().enumerate().map(|(index, shard)| {
        let busy = busy.get(index).map_or("–".to_owned(), |share| format!("{:.0} %", share * 100.0));
        format!(
            "{index:<6}{:>13}{:>10}{:>12}{busy:>7}{:>13}",
            grouped(shard.connections),
            grouped(shard.mailbox_depth),
            bytes(shard.outbox_bytes),
            format!("{:.1} ms", shard.turn_us_max as f64 / 1e3),
        )
    }));
    Table { title: "Shards", lines }
}

/// The memory by component, largest first.
pub(super) fn memory(status: &Status) -> Table {
    let memory = &status.memory;
    let row = |name: &str, amount: u64, each: Option<u64>| {
        let each = each.map_or(String::new(), |each| format!("{:>11} each", grouped(each)));
        format!("{name:<NAME_WIDTH$}{:>12}{each}", bytes(amount))
    };
    let sum = |of: fn(&ComponentStatus) -> bool| -> u64 {
        memory.components.iter().filter(|component| of(component)).map(|component| component.bytes).sum()
    };
    let mut lines = vec![row("resident", memory.resident_bytes, None)];
    lines.push(row("accounted for", sum(|component| !component.kernel), None));
    lines.push(row("including kernel", memory.whole_bytes, None));
    lines.extend(memory.budget.as_ref().map(|budget| {
        format!(
            "{:<NAME_WIDTH$}{:>12}{:>11} connections",
            "budget",
            bytes(budget.bytes),
            grouped(budget.connections)
        )
    }));
    lines.extend(memory.limit_bytes.map(|limit| row("control group limit", limit, None)));
    let mut components: Vec<&ComponentStatus> =
        memory.components.iter().filter(|component| component.bytes > 0).collect();
    components.sort_by_key(|component| std::cmp::Reverse(component.bytes));
    let rest = components.split_off(components.len().min(COMPONENTS_MAX));
    lines.extend(components.into_iter().map(|component| {
        let name = if component.kernel {
            format!("kernel {}", component.component)
        } else {
            component.component.clone()
        };
        row(&name, component.bytes, component.connection_bytes)
    }));
    if !rest.is_empty() {
        lines.push(row("others", rest.iter().map(|component| component.bytes).sum(), None));
    }
    Table { title: "Memory", lines }
}

/// The largest topics.
pub(super) fn topics(status: &Status) -> Table {
    let topic = |topic: &crate::status::TopicStatus| {
        format!("{:>11}  {}", grouped(topic.members), one_line(&topic.topic))
    };
    let mut lines: Vec<String> = status.topics.iter().map(topic).collect();
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    Table { title: "Largest topics", lines }
}

/// The slowest readers.
pub(super) fn readers(status: &Status) -> Table {
    let mut lines: Vec<String> = status.slow_readers.iter().map(reader).collect();
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    Table { title: "Slow clients", lines }
}

fn reader(reader: &ReaderStatus) -> String {
    let remote = reader.remote.as_deref().unwrap_or("gone");
    let id = reader.socket_id.as_deref().map(|id| format!("  id {}", one_line(id))).unwrap_or_default();
    format!("{:>11}  {remote}  shard {}{id}", bytes(reader.waiting_bytes), reader.shard)
}

fn per_second(rate: f64) -> String {
    if rate < 10.0 && rate > 0.0 { format!("{rate:.1}") } else { grouped(rate as u64) }
}

/// Replaces control characters: names are chosen by clients, who could otherwise control the terminal with them.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{ShardStatus, TopicStatus};

    fn look() -> Look {
        let mut status = Status::default();
        status.connections.open = 12_345;
        status.connections.joins_waiting = 17;
        status.totals.joins = 6_789;
        status.shards =
            vec![ShardStatus { connections: 12_345, turn_us_max: 1_500, ..ShardStatus::default() }];
        status.topics = vec![TopicStatus { topic: "rooms:\u{1b}[2Jlobby".to_owned(), members: 12_000 }];
        status.slow_readers = vec![ReaderStatus { waiting_bytes: 2_048, ..ReaderStatus::default() }];
        let component = |name: &str, kernel, bytes, connection_bytes| ComponentStatus {
            component: name.to_owned(),
            kernel,
            bytes,
            connection_bytes,
        };
        status.memory.components = vec![
            component("program", false, 1 << 20, None),
            component("sockets", true, 50 << 20, Some(4_052)),
            component("outboxes", false, 0, Some(0)),
        ];
        status.memory.limit_bytes = Some(68 << 20);
        Look { status, rates: None }
    }

    #[test]
    fn everything_is_told_and_nothing_can_steer_the_terminal() {
        let text = all(&look(), &[0.25]);
        for expected in [
            "connections            12,345",
            "joins waiting              17",
            "joins                   6,789            0/s",
            "kernel sockets          50.0 MiB      4,052 each",
            "control group limit     68.0 MiB",
            "12,000  rooms: [2Jlobby",
            "2.0 KiB  gone  shard 0",
        ] {
            assert!(text.contains(expected), "{expected} is missing in\n{text}");
        }
        assert!(!text.contains('\u{1b}') && !text.contains("\n  outboxes"), "{text}");
        assert!(line(&look()).starts_with("connections 12,345  joined 0"));
    }

    #[test]
    fn the_largest_components_come_first_and_the_smallest_together() {
        let mut look = look();
        let small = |index: usize| ComponentStatus {
            component: format!("part {index}"),
            bytes: 1_024,
            ..ComponentStatus::default()
        };
        look.status.memory.components.extend((0..COMPONENTS_MAX).map(small));
        let lines = memory(&look.status).lines;
        assert!(lines[4].starts_with("kernel sockets") && lines[5].starts_with("program"), "{lines:?}");
        assert!(
            lines.last().is_some_and(|line| line.starts_with("others") && line.contains("2.0 KiB")),
            "{lines:?}"
        );
    }
}
