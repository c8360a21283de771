//! `series.csv` and `servers.csv`: the run second by second, for spreadsheets and plotting programs.

use std::io::{self, Write};

use crate::statistics::{SeriesRow, Spread};

/// Writes a row per second; the columns are the fields of [`SeriesRow`], where a spread has several with its name as
/// prefix.
pub(super) fn write_series(rows: &[SeriesRow], file: &mut impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(file);
    csv.write_record(columns(&SeriesRow::default()).into_iter().map(|(name, _)| name))?;
    for row in rows {
        csv.write_record(columns(row).into_iter().map(|(_, value)| value))?;
    }
    csv.flush()
}

/// Writes a row per second, server and sampled figure.
pub(super) fn write_servers(rows: &[SeriesRow], file: &mut impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(file);
    csv.write_record(["second", "server", "figure", "value"])?;
    for row in rows {
        for server in &row.servers {
            let whole = |figure: Option<u64>| figure.map(|figure| figure as f64);
            let known = [
                ("rss_bytes", whole(server.rss_bytes)),
                ("cpu", server.cpu),
                ("descriptors", whole(server.descriptors)),
                ("connections", whole(server.connections)),
                ("failed_scrapes", Some(f64::from(server.failed_scrapes))),
            ];
            let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let further = server.figures.iter().map(|(name, value)| (name.as_str(), *value));
            for (name, value) in known.chain(further) {
                csv.write_record([&row.second.to_string(), &server.name, name, &value.to_string()])?;
            }
        }
    }
    csv.flush()
}

fn columns(row: &SeriesRow) -> Vec<(String, String)> {
    let mut columns: Vec<(String, String)> = [
        ("second", u64::from(row.second)),
        ("users_wanted", row.users_wanted),
        ("users", row.users),
        ("connected", row.connected),
        ("joined", row.joined),
        ("arrivals", row.arrivals),
        ("finished", row.finished),
        ("connects", row.connects),
        ("sent", row.sent),
        ("received", row.received),
        ("bytes_sent", row.bytes_sent),
        ("bytes_received", row.bytes_received),
        ("http", row.http),
        ("errors", row.errors),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_string()))
    .collect();
    for (name, spread) in [
        ("latency", &row.latency),
        ("service_latency", &row.service_latency),
        ("connect", &row.connect),
        ("join", &row.join),
        ("http_time", &row.http_time),
        ("send_lag", &row.send_lag),
    ] {
        columns.extend(spread_columns(name, spread));
    }
    for (name, value) in [
        ("generator_cpu", row.generator_cpu),
        ("generator_thread_cpu_max", row.generator_thread_cpu_max),
        ("steal", row.steal),
    ] {
        columns.push((name.to_owned(), value.to_string()));
    }
    columns
}

/// The columns of an empty spread are blank: 0 µs would be a valid time.
fn spread_columns(name: &str, spread: &Spread) -> impl Iterator<Item = (String, String)> {
    let is_measured = spread.count > 0;
    [
        ("count", spread.count.to_string()),
        ("min_us", spread.min_us.to_string()),
        ("mean_us", format!("{:.1}", spread.mean_us)),
        ("stddev_us", format!("{:.1}", spread.stddev_us)),
        ("p50_us", spread.p50_us.to_string()),
        ("p75_us", spread.p75_us.to_string()),
        ("p90_us", spread.p90_us.to_string()),
        ("p95_us", spread.p95_us.to_string()),
        ("p99_us", spread.p99_us.to_string()),
        ("p999_us", spread.p999_us.to_string()),
        ("max_us", spread.max_us.to_string()),
    ]
    .map(|(figure, value)| {
        let value = if is_measured || figure == "count" { value } else { String::new() };
        (format!("{name}_{figure}"), value)
    })
    .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::ServerRow;

    #[test]
    fn each_second_is_a_row_with_the_columns_of_the_header() {
        let rows = [
            SeriesRow { second: 0, sent: 7, ..SeriesRow::default() },
            SeriesRow {
                second: 1,
                latency: Spread { count: 1, max_us: 250, ..Spread::default() },
                ..SeriesRow::default()
            },
        ];
        let mut file = Vec::new();
        write_series(&rows, &mut file).expect("written");
        let mut csv = csv::Reader::from_reader(file.as_slice());
        let headers = csv.headers().expect("a header").clone();
        let rows: Vec<_> = csv.records().map(|row| row.expect("a row")).collect();
        let value = |row: usize, name: &str| {
            let column = headers.iter().position(|header| header == name).expect("a column");
            rows[row].get(column).expect("a value").to_owned()
        };
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (value(0, "sent"), value(0, "latency_count"), value(0, "latency_max_us")),
            ("7".into(), "0".into(), "".into())
        );
        assert_eq!((value(1, "second"), value(1, "latency_max_us")), ("1".into(), "250".into()));
    }

    #[test]
    fn what_is_not_known_of_a_server_has_no_row() {
        let server = ServerRow {
            name: "pid 7".to_owned(),
            rss_bytes: Some(4096),
            figures: vec![("queue, length".to_owned(), 1.5)],
            ..ServerRow::default()
        };
        let mut file = Vec::new();
        write_servers(&[SeriesRow { second: 3, servers: vec![server], ..SeriesRow::default() }], &mut file)
            .expect("written");
        let expected = "second,server,figure,value\n3,pid 7,rss_bytes,4096\n3,pid 7,failed_scrapes,0\n3,pid 7,\"queue, length\",1.5\n";
        assert_eq!(String::from_utf8(file).expect("text"), expected);
    }
}
