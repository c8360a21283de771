//! Tsung's `iprange`: four octets, each a number or a range, such as `172.28.1-20.0-254`.

use std::net::Ipv4Addr;

/// Maximum number of address ranges that one `iprange` may expand to.
const RANGES_MAX: usize = 4096;
/// Maximum number of addresses that one `iprange` may name: the maximum of a scenario.
const ADDRESSES_MAX: u64 = 65_535;

/// Returns the addresses as contiguous ranges, in the scenario's notation.
///
/// # Errors
/// A description of the problem.
pub(super) fn ranges(text: &str) -> Result<Vec<String>, String> {
    let octets = parse(text).ok_or_else(|| {
        format!("`{text}` is not four octets, each a number or a range such as `172.28.1-20.0-254`")
    })?;
    let count: u64 = octets.iter().map(|(first, last)| u64::from(last - first) + 1).product();
    if count > ADDRESSES_MAX {
        return Err(format!("`{text}` names {count} addresses: at most {ADDRESSES_MAX}"));
    }
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let [first, second, third, fourth] = octets;
    for a in first.0..=first.1 {
        for b in second.0..=second.1 {
            for c in third.0..=third.1 {
                let address = |d| u32::from(Ipv4Addr::new(a, b, c, d));
                let (begin, end) = (address(fourth.0), address(fourth.1));
                match ranges.last_mut() {
                    Some(last) if last.1.checked_add(1) == Some(begin) => last.1 = end,
                    Some(_) | None => ranges.push((begin, end)),
                }
            }
        }
    }
    if ranges.len() > RANGES_MAX {
        return Err(format!("`{text}` comes to {} ranges: at most {RANGES_MAX}", ranges.len()));
    }
    Ok(ranges.into_iter().map(written).collect())
}

fn parse(text: &str) -> Option<[(u8, u8); 4]> {
    let octets: Option<Vec<(u8, u8)>> = text.trim().split('.').map(octet).collect();
    octets?.try_into().ok()
}

fn octet(text: &str) -> Option<(u8, u8)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}

fn written((first, last): (u32, u32)) -> String {
    let (begin, end) = (Ipv4Addr::from(first), Ipv4Addr::from(last));
    if first == last { begin.to_string() } else { format!("{begin}-{end}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_range_becomes_ranges_without_gaps() {
        let table: [(&str, Vec<&str>); 5] = [
            ("10.0.0.1", vec!["10.0.0.1"]),
            ("10.0.0.1-9", vec!["10.0.0.1-10.0.0.9"]),
            ("127.0.0-1.0-255", vec!["127.0.0.0-127.0.1.255"]),
            ("172.28.1-2.0-254", vec!["172.28.1.0-172.28.1.254", "172.28.2.0-172.28.2.254"]),
            ("10.1-2.3.4", vec!["10.1.3.4", "10.2.3.4"]),
        ];
        for (text, expected) in table {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(ranges(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_range_is_refused() {
        for text in ["", "10.0.0", "10.0.0.9-1", "10.0.0.256", "10.0.0.1.2", "0-255.0-255.0-255.0-255", "::1"]
        {
            assert!(ranges(text).is_err(), "{text}");
        }
    }
}
