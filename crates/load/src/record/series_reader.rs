//! Reads `series.csv` and `servers.csv`.

use std::collections::HashMap;
use std::io::{self, Read};
use std::str::FromStr;

use crate::statistics::limits::SERIES_SECONDS_MAX;
use crate::statistics::{SeriesRow, ServerRow, Spread};

/// Reads what [`super::series_csv::write_series`] wrote; the servers are in a separate file.
pub(super) fn read_series(file: impl Read) -> io::Result<Vec<SeriesRow>> {
    let mut csv = csv::Reader::from_reader(file);
    let header = csv.headers()?.clone();
    let mut rows = Vec::new();
    for record in csv.records() {
        if rows.len() >= SERIES_SECONDS_MAX as usize {
            return Err(invalid(format!("more than {SERIES_SECONDS_MAX} seconds")));
        }
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        rows.push(Cells { line, cells: header.iter().zip(&record).collect() }.row()?);
    }
    Ok(rows)
}

/// Reads what [`super::series_csv::write_servers`] wrote into the rows of the corresponding seconds.
pub(super) fn read_servers(file: impl Read, rows: &mut [SeriesRow]) -> io::Result<()> {
    let places: HashMap<u32, usize> =
        rows.iter().enumerate().map(|(place, row)| (row.second, place)).collect();
    for record in csv::Reader::from_reader(file).into_deserialize() {
        let (second, server, figure, value): (u32, String, String, f64) = record?;
        // A second without users has no row, and is not drawn.
        let Some(row) = places.get(&second).and_then(|place| rows.get_mut(*place)) else { continue };
        enter(server_of(row, server), figure, value);
    }
    Ok(())
}

fn server_of(row: &mut SeriesRow, name: String) -> &mut ServerRow {
    let place = row.servers.iter().position(|server| server.name == name).unwrap_or_else(|| {
        row.servers.push(ServerRow { name, ..ServerRow::default() });
        row.servers.len() - 1
    });
    &mut row.servers[place]
}

fn enter(server: &mut ServerRow, figure: String, value: f64) {
    match figure.as_str() {
        "rss_bytes" => server.rss_bytes = Some(value as u64),
        "cpu" => server.cpu = Some(value),
        "descriptors" => server.descriptors = Some(value as u64),
        "connections" => server.connections = Some(value as u64),
        "failed_scrapes" => server.failed_scrapes = value as u32,
        _ => server.figures.push((figure, value)),
    }
}

/// The cells of one line, by column name.
struct Cells<'a> {
    line: u64,
    cells: HashMap<&'a str, &'a str>,
}

impl Cells<'_> {
    fn row(&self) -> io::Result<SeriesRow> {
        Ok(SeriesRow {
            second: self.value("second")?,
            users_wanted: self.value("users_wanted")?,
            users: self.value("users")?,
            connected: self.value("connected")?,
            joined: self.value("joined")?,
            arrivals: self.value("arrivals")?,
            finished: self.value("finished")?,
            connects: self.value("connects")?,
            sent: self.value("sent")?,
            received: self.value("received")?,
            bytes_sent: self.value("bytes_sent")?,
            bytes_received: self.value("bytes_received")?,
            http: self.value("http")?,
            errors: self.value("errors")?,
            latency: self.spread("latency")?,
            service_latency: self.spread("service_latency")?,
            connect: self.spread("connect")?,
            join: self.spread("join")?,
            http_time: self.spread("http_time")?,
            send_lag: self.spread("send_lag")?,
            generator_cpu: self.value("generator_cpu")?,
            generator_thread_cpu_max: self.value("generator_thread_cpu_max")?,
            steal: self.value("steal")?,
            servers: Vec::new(),
        })
    }

    /// An empty spread has blank cells.
    fn spread(&self, name: &str) -> io::Result<Spread> {
        let count = self.value(&format!("{name}_count"))?;
        if count == 0 {
            return Ok(Spread::default());
        }
        let whole = |figure: &str| self.value::<u64>(&format!("{name}_{figure}_us"));
        let fraction = |figure: &str| self.value::<f64>(&format!("{name}_{figure}_us"));
        Ok(Spread {
            count,
            min_us: whole("min")?,
            mean_us: fraction("mean")?,
            stddev_us: fraction("stddev")?,
            p50_us: whole("p50")?,
            p75_us: whole("p75")?,
            p90_us: whole("p90")?,
            p95_us: whole("p95")?,
            p99_us: whole("p99")?,
            p999_us: whole("p999")?,
            max_us: whole("max")?,
        })
    }

    fn value<T: FromStr>(&self, column: &str) -> io::Result<T> {
        let text = self.cells.get(column).copied().unwrap_or_default();
        text.parse()
            .map_err(|_| invalid(format!("line {}: `{text}` is not a valid value of `{column}`", self.line)))
    }
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::super::series_csv::{write_series, write_servers};
    use super::*;

    #[test]
    fn a_series_that_was_written_is_read_as_it_was() {
        let server = ServerRow {
            name: "pid 7".to_owned(),
            rss_bytes: Some(4096),
            cpu: Some(0.25),
            figures: vec![("queue, length".to_owned(), 1.5)],
            ..ServerRow::default()
        };
        let latency =
            Spread { count: 2, min_us: 3, mean_us: 4.5, stddev_us: 1.5, max_us: 6, ..Spread::default() };
        let rows = vec![
            SeriesRow { second: 0, sent: 7, generator_cpu: 0.125, ..SeriesRow::default() },
            SeriesRow { second: 1, users: 9, latency, servers: vec![server], ..SeriesRow::default() },
        ];
        let (mut series, mut servers) = (Vec::new(), Vec::new());
        write_series(&rows, &mut series).expect("written");
        write_servers(&rows, &mut servers).expect("written");
        let mut read = read_series(series.as_slice()).expect("readable");
        read_servers(servers.as_slice(), &mut read).expect("readable");
        assert_eq!(read, rows);
    }

    #[test]
    fn a_damaged_series_is_told_with_its_line_and_column() {
        let mut series = Vec::new();
        write_series(&[SeriesRow::default()], &mut series).expect("written");
        let damaged = String::from_utf8(series).expect("text").replacen("\n0,0,", "\n0,many,", 1);
        let error = read_series(damaged.as_bytes()).expect_err("damaged").to_string();
        assert!(error.contains("line 2") && error.contains("users_wanted"), "{error}");
    }
}
