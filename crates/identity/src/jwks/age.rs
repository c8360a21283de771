//! The cache lifetime of a response.

use std::time::Duration;

/// The `max-age` of a `Cache-Control` header (RFC 9111, section 5.2.2.1); `None` for `no-store` and `no-cache`.
pub(super) fn max_age(cache_control: &str) -> Option<Duration> {
    let mut age = None;
    for directive in cache_control.split(',').map(str::trim) {
        if directive.eq_ignore_ascii_case("no-store") || directive.eq_ignore_ascii_case("no-cache") {
            return Some(Duration::ZERO);
        }
        let Some((name, value)) = directive.split_once('=') else { continue };
        if name.eq_ignore_ascii_case("max-age") {
            age = value.trim_matches('"').parse().ok().map(Duration::from_secs);
        }
    }
    age
}

#[cfg(test)]
mod tests {
    use super::max_age;
    use std::time::Duration;

    #[test]
    fn the_age_is_read_among_other_directives() {
        let cases = [
            ("max-age=60", Some(60)),
            ("public, Max-Age=\"3600\", must-revalidate", Some(3600)),
            ("no-store, max-age=60", Some(0)),
            ("no-cache", Some(0)),
            ("s-maxage=5", None),
            ("max-age=-1", None),
            ("max-age=soon", None),
            ("", None),
        ];
        for (header, seconds) in cases {
            assert_eq!(max_age(header), seconds.map(Duration::from_secs), "{header}");
        }
    }
}
