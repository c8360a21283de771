//! Siege's report, line by line.

use crate::statistics::Summary;

/// Returns the lines that Siege prints, in its order and units: seconds, and megabytes of 1024² bytes. Elapsed time is
/// that of the whole run; concurrency is the time spent in requests divided by elapsed time.
pub fn siege(summary: &Summary) -> String {
    let counts = &summary.counts;
    let spread = &summary.times.http;
    let all = counts.http + counts.http_failed;
    let elapsed = summary.seconds.max(1e-9);
    let megabytes = counts.http_bytes as f64 / 1_048_576.0;
    let seconds = |us: f64| us / 1e6;
    let availability = if all > 0 { counts.http as f64 / all as f64 * 100.0 } else { 0.0 };
    let busy = seconds(spread.mean_us) * spread.count as f64;
    let lines = [
        ("Transactions:", format!("{} hits", counts.http)),
        ("Availability:", format!("{availability:.2} %")),
        ("Elapsed time:", format!("{:.2} secs", summary.seconds)),
        ("Data transferred:", format!("{megabytes:.2} MB")),
        ("Response time:", format!("{:.2} secs", seconds(spread.mean_us))),
        ("Transaction rate:", format!("{:.2} trans/sec", counts.http as f64 / elapsed)),
        ("Throughput:", format!("{:.2} MB/sec", megabytes / elapsed)),
        ("Concurrency:", format!("{:.2}", busy / elapsed)),
        ("Successful transactions:", counts.http.to_string()),
        ("Failed transactions:", counts.http_failed.to_string()),
        ("Longest transaction:", format!("{:.2}", seconds(spread.max_us as f64))),
        ("Shortest transaction:", format!("{:.2}", seconds(spread.min_us as f64))),
    ];
    lines.iter().map(|(name, value)| format!("{name:<24} {value:>20}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Counts, Spread, Times};

    #[test]
    fn the_figures_of_the_avchat_test_come_out_as_siege_printed_them() {
        // 7080 hits in 85.98 s at 0.1009 s each, 2.73 MB.
        let counts = Counts { http: 7080, http_bytes: 2_862_612, ..Counts::default() };
        let http =
            Spread { count: 7080, mean_us: 100_917.0, min_us: 900, max_us: 830_000, ..Spread::default() };
        let times = Times { http, ..Times::default() };
        let summary = Summary { seconds: 85.98, counts, times, ..Summary::default() };
        let text = siege(&summary);
        for line in [
            "Transactions:                       7080 hits",
            "Availability:                        100.00 %",
            "Elapsed time:                      85.98 secs",
            "Data transferred:                     2.73 MB",
            "Transaction rate:             82.34 trans/sec",
            "Concurrency:                             8.31",
            "Longest transaction:                     0.83",
            "Shortest transaction:                    0.00",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_run_without_requests_divides_by_nothing() {
        assert!(!siege(&Summary::default()).contains("NaN"));
    }
}
