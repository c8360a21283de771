//! The facts as text.

use super::amounts::{bytes, counted, grouped, milliseconds, percent};
use super::checks::cookies_in_words;
use super::facts::{
    ClockFacts, DescriptorFacts, Facts, MemoryFacts, NetworkFacts, OwnAddress, PortFacts, ProcessorFacts,
};
use super::reading::Reading;
use super::target::TargetFacts;

/// How many of the machine's own addresses are listed; the rest is only counted.
const ADDRESSES_SHOWN: usize = 6;
/// The text for a fact that could not be read.
const NOT_KNOWN: &str = "not known";

/// Names and values, in reading order.
type Rows = Vec<(String, String)>;

impl Facts {
    /// Returns the facts as names and texts, in reading order.
    #[must_use]
    pub fn listed(&self) -> Vec<(String, String)> {
        let mut rows = vec![row("program", self.program.clone()), row("kernel", self.kernel.clone())];
        rows.extend(processor(&self.processor));
        rows.push(row("memory", memory(&self.memory)));
        rows.extend(descriptors(&self.descriptors));
        rows.extend(ports(self.ports_each(), &self.ports));
        rows.extend(network(&self.network, self.memory.page_bytes));
        rows.push(row("clock", clock(&self.clock)));
        rows
    }
}

impl TargetFacts {
    /// Returns the facts as names and texts, in reading order.
    #[must_use]
    pub fn listed(&self) -> Vec<(String, String)> {
        let mut rows = vec![
            row(
                "name",
                match &self.resolution {
                    Reading::Known(found) => {
                        let addresses: Vec<String> =
                            found.addresses.iter().map(ToString::to_string).collect();
                        format!("{} in {}", addresses.join(", "), milliseconds(found.time_us))
                    }
                    Reading::Unknown { unknown } => format!("{NOT_KNOWN}: {unknown}"),
                },
            ),
            row("connect", said(&self.connect_us, |time_us| milliseconds(*time_us))),
            row(
                "answer",
                said(&self.http, |answer| {
                    let server =
                        answer.server.as_deref().map(|name| format!(", Server: {name}")).unwrap_or_default();
                    format!("status {}{server}", answer.status)
                }),
            ),
        ];
        let process = self.process.as_ref().map(|process| {
            said(process, |process| {
                format!(
                    "{} ({}), {} resident, {}, {} descriptors, nofile {}",
                    process.pid,
                    process.name,
                    bytes(process.rss_bytes),
                    counted(process.threads, "thread", "threads"),
                    said(&process.descriptors, |count| grouped(*count)),
                    said(&process.descriptor_limit, |limit| limit.map_or("unlimited".to_owned(), grouped)),
                )
            })
        });
        rows.extend(process.map(|text| row("process", text)));
        let metrics = self.metrics.as_ref().map(|metrics| {
            said(metrics, |metrics| {
                let figures: Vec<String> =
                    metrics.iter().map(|(name, value)| format!("{name} {value}")).collect();
                if figures.is_empty() {
                    "scraped, but without any of the usual metrics".to_owned()
                } else {
                    figures.join(", ")
                }
            })
        });
        rows.extend(metrics.map(|text| row("metrics", text)));
        rows
    }
}

fn processor(facts: &ProcessorFacts) -> Rows {
    let model = facts.model.as_deref().unwrap_or("model not known");
    let mhz = facts.mhz.map(|mhz| format!(", {:.2} GHz", mhz / 1000.0)).unwrap_or_default();
    let governor = facts.governor.as_deref().unwrap_or("none (no frequency scaling)");
    vec![
        row(
            "cores",
            format!(
                "{} for this process, {} online",
                said(&facts.cores, |cores| grouped(*cores)),
                said(&facts.count, |count| grouped((*count).into()))
            ),
        ),
        row("cpu", format!("{model}{mhz}")),
        row("governor", governor.to_owned()),
        row(
            "runs on",
            format!(
                "{}; {} of the CPU time stolen since it started",
                said(&facts.runs_on, Clone::clone),
                said(&facts.steal, |steal| percent(*steal))
            ),
        ),
    ]
}

fn memory(facts: &MemoryFacts) -> String {
    let file = facts.limit_file.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
    let limit = facts.limit_bytes.map(|limit| format!(", {} by its control group{file}", bytes(limit)));
    let limit = limit.unwrap_or_default();
    format!(
        "{}, {} available{limit}",
        said(&facts.total_bytes, |total| bytes(*total)),
        said(&facts.available_bytes, |available| bytes(*available))
    )
}

fn descriptors(facts: &DescriptorFacts) -> Rows {
    let limit = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), grouped);
    let number = |reading: &Reading<u64>| said(reading, |number| grouped(*number));
    vec![
        row(
            "nofile",
            format!(
                "soft {}, hard {}, fs.nr_open {}",
                limit(facts.soft),
                limit(facts.hard),
                number(&facts.nr_open)
            ),
        ),
        row("files", format!("{} open, fs.file-max {}", number(&facts.files_open), number(&facts.file_max))),
    ]
}

fn ports(each: Option<u64>, facts: &PortFacts) -> Rows {
    let count = each
        .map(|each| format!(": {} for each source address and target", grouped(each)))
        .unwrap_or_default();
    let number = |reading: &Reading<u64>| said(reading, |number| grouped(*number));
    vec![
        row("ports", format!("{}{count}", said(&facts.range, |[first, last]| format!("{first}-{last}")))),
        row(
            "TIME_WAIT",
            format!(
                "{} now; tcp_tw_reuse {}, tcp_timestamps {}",
                number(&facts.time_wait),
                number(&facts.tw_reuse),
                number(&facts.timestamps)
            ),
        ),
        row("addresses", said(&facts.addresses, |own| addresses(own))),
    ]
}

fn addresses(own: &[OwnAddress]) -> String {
    // An address within a network that is listed as a whole adds nothing.
    let whole = |other: &OwnAddress| {
        own.iter().any(|network| {
            network != other
                && engine::machine::LocalAddress {
                    address: network.address,
                    prefix_bits: network.prefix_bits,
                }
                .contains(other.address)
                && network.prefix_bits < other.prefix_bits
        })
    };
    let listed: Vec<&OwnAddress> = own.iter().filter(|address| !whole(address)).collect();
    let mut shown: Vec<String> = listed.iter().take(ADDRESSES_SHOWN).map(|own| written(own)).collect();
    if listed.len() > ADDRESSES_SHOWN {
        shown.push(format!("and {} more", listed.len() - ADDRESSES_SHOWN));
    }
    shown.join(", ")
}

fn written(own: &OwnAddress) -> String {
    let single = if own.address.is_ipv4() { 32 } else { 128 };
    if own.prefix_bits == single {
        own.address.to_string()
    } else {
        format!("{}/{}", own.address, own.prefix_bits)
    }
}

fn network(facts: &NetworkFacts, page_bytes: u64) -> Rows {
    let number = |reading: &Reading<u64>| said(reading, |number| grouped(*number));
    let sizes = |reading: &Reading<[u64; 3]>, unit_bytes: u64| {
        said(reading, |sizes| sizes.map(|size| bytes(size.saturating_mul(unit_bytes))).join(" / "))
    };
    let conntrack = facts.conntrack.map_or("not loaded".to_owned(), |conntrack| {
        format!("{} of at most {}", grouped(conntrack.count), grouped(conntrack.max))
    });
    vec![
        row(
            "somaxconn",
            format!("{}, {} overflows", number(&facts.somaxconn), number(&facts.listen_overflows)),
        ),
        row(
            "SYN backlog",
            format!(
                "{}, cookies {}",
                number(&facts.syn_backlog),
                said(&facts.syncookies, |setting| cookies_in_words(*setting).to_owned())
            ),
        ),
        row(
            "netdev backlog",
            format!("{}, {} packets dropped", number(&facts.netdev_backlog), number(&facts.backlog_dropped)),
        ),
        row("tcp_max_orphans", number(&facts.max_orphans)),
        row("TCP hash table", number(&facts.connection_table)),
        row("tcp_mem", sizes(&facts.tcp_mem, page_bytes)),
        row("tcp_rmem", sizes(&facts.tcp_rmem, 1)),
        row("tcp_wmem", sizes(&facts.tcp_wmem, 1)),
        row("conntrack", conntrack),
    ]
}

fn clock(facts: &ClockFacts) -> String {
    let kept = match facts.synchronised.known() {
        Some(true) => "synchronised",
        Some(false) => "not synchronised",
        None => "not known whether synchronised",
    };
    format!("{}, {kept}", said(&facts.source, Clone::clone))
}

fn row(name: &str, value: String) -> (String, String) {
    (name.to_owned(), value)
}

fn said<T>(reading: &Reading<T>, words: impl FnOnce(&T) -> String) -> String {
    match reading {
        Reading::Known(fact) => words(fact),
        Reading::Unknown { unknown } => format!("{NOT_KNOWN} ({unknown})"),
    }
}
