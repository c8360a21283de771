//! Which pages may connect: the rules for the `Origin` header of an upgrade request.
//!
//! A request without that header does not come from a page and is always allowed.

use std::fmt;

/// The address that the request was sent to, for the rules that compare with it.
#[derive(Clone, Copy, Debug)]
pub struct RequestAddress<'a> {
    /// Whether it came over TLS.
    pub secure: bool,
    /// The `Host` header: `host[:port]`.
    pub host: &'a str,
}

/// Which origins a mount accepts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum OriginRule {
    /// Every origin.
    Any,
    /// The origin's host is the request's host; scheme and port do not matter.
    #[default]
    SameHost,
    /// The origin's host is this one; scheme and port do not matter.
    Host(String),
    /// One of the patterns matches.
    List(Vec<OriginPattern>),
    /// Scheme, host and port of the origin are all the request's.
    Conn,
}

/// An entry in a list of origins: `[scheme:]//host[:port]`, where the host may start with `*.`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OriginPattern {
    scheme: Option<String>,
    host: HostPattern,
    port: Option<u16>,
}

/// Text that is not a pattern of the form `[scheme:]//host[:port]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadOriginPattern(pub String);

#[derive(Clone, PartialEq, Eq, Debug)]
enum HostPattern {
    Exact(String),
    /// The domain itself and subdomains of any depth.
    DomainAndBelow(String),
}

/// An `Origin` header with a host. The scheme is missing only in lenient mode.
#[derive(Clone, Copy)]
struct Origin<'a> {
    scheme: Option<&'a str>,
    host: &'a str,
    port: Option<u16>,
}

impl OriginRule {
    /// Returns whether a request with that `Origin` header is allowed.
    ///
    /// An origin without a host (`null`, `file://`) passes only [`OriginRule::Any`]. `lenient` treats an origin without
    /// a scheme, such as `127.0.0.1`, as a host: Tsung sends that; no browser does.
    pub fn allows(&self, origin: Option<&str>, request: &RequestAddress<'_>, lenient: bool) -> bool {
        let Some(origin) = origin else { return true };
        if matches!(self, OriginRule::Any) {
            return true;
        }
        let Some(origin) = Origin::parse(origin, lenient) else { return false };
        match self {
            OriginRule::Any => true,
            OriginRule::SameHost => {
                split_host(request.host).is_some_and(|(host, _)| host.eq_ignore_ascii_case(origin.host))
            }
            OriginRule::Host(host) => host.eq_ignore_ascii_case(origin.host),
            OriginRule::List(patterns) => patterns.iter().any(|pattern| pattern.matches(&origin)),
            OriginRule::Conn => request.pattern().is_some_and(|pattern| pattern.matches(&origin)),
        }
    }
}

impl OriginPattern {
    /// Parses a pattern. Without a scheme any scheme matches, without scheme and port any port; a scheme without a port
    /// means that scheme's default port.
    pub fn parse(text: &str) -> Result<OriginPattern, BadOriginPattern> {
        let bad = || BadOriginPattern(text.to_owned());
        let (scheme, rest) = text.split_once("//").ok_or_else(bad)?;
        let scheme = match scheme.strip_suffix(':') {
            Some(scheme) if is_scheme(scheme) => Some(scheme.to_ascii_lowercase()),
            None if scheme.is_empty() => None,
            _ => return Err(bad()),
        };
        let (host, port) = split_host(rest).ok_or_else(bad)?;
        let host = match host.strip_prefix("*.") {
            Some(domain) if !domain.is_empty() => HostPattern::DomainAndBelow(domain.to_owned()),
            _ => HostPattern::Exact(host.to_owned()),
        };
        let port = port.or_else(|| default_port(scheme.as_deref()?));
        Ok(OriginPattern { scheme, host, port })
    }

    fn matches(&self, origin: &Origin<'_>) -> bool {
        let scheme_matches = match (&self.scheme, origin.scheme) {
            (Some(wanted), Some(scheme)) => wanted.eq_ignore_ascii_case(scheme),
            (None, _) | (_, None) => true,
        };
        let port_matches = match (self.port, origin.scheme, origin.port()) {
            // A pattern that names neither accepts any port, and an origin that names neither matches any.
            (None, _, _) if self.scheme.is_none() => true,
            (_, None, None) => true,
            (wanted, _, port) => wanted == port,
        };
        scheme_matches && port_matches && self.host.matches(origin.host)
    }
}

impl HostPattern {
    fn matches(&self, host: &str) -> bool {
        match self {
            HostPattern::Exact(exact) => exact.eq_ignore_ascii_case(host),
            HostPattern::DomainAndBelow(domain) => {
                let Some(start) = host.len().checked_sub(domain.len()) else { return false };
                let (prefix, suffix) = host.as_bytes().split_at(start);
                suffix.eq_ignore_ascii_case(domain.as_bytes())
                    && (prefix.is_empty() || prefix.ends_with(b"."))
            }
        }
    }
}

impl RequestAddress<'_> {
    fn pattern(&self) -> Option<OriginPattern> {
        let scheme = if self.secure { "https" } else { "http" };
        let (host, port) = split_host(self.host)?;
        Some(OriginPattern {
            scheme: Some(scheme.to_owned()),
            host: HostPattern::Exact(host.to_owned()),
            port: port.or(default_port(scheme)),
        })
    }
}

impl<'a> Origin<'a> {
    /// Parses `scheme://host[:port]`; whatever follows is ignored.
    fn parse(text: &'a str, lenient: bool) -> Option<Origin<'a>> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            None if lenient && !text.eq_ignore_ascii_case("null") => (None, text),
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let (host, port) = split_host(authority)?;
        Some(Origin { scheme, host, port })
    }

    fn port(&self) -> Option<u16> {
        self.port.or_else(|| default_port(self.scheme?))
    }
}

/// Splits `host[:port]`, where an IPv6 host is in brackets. `None` if there is no host or either part is invalid.
fn split_host(text: &str) -> Option<(&str, Option<u16>)> {
    let end_of_address = text.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match text[end_of_address..].split_once(':') {
        Some((host, "")) => (&text[..end_of_address + host.len()], None),
        Some((host, port)) => (&text[..end_of_address + host.len()], Some(port.parse().ok()?)),
        None => (text, None),
    };
    let is_host = !host.is_empty() && !host.contains(['@', '/', '\\', ' ']);
    is_host.then_some((host, port))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    }
}

impl fmt::Display for BadOriginPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not of the form [scheme:]//host[:port]", self.0)
    }
}

impl std::error::Error for BadOriginPattern {}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: RequestAddress<'_> = RequestAddress { secure: false, host: "host.test:4000" };

    fn list(patterns: &[&str]) -> OriginRule {
        OriginRule::List(patterns.iter().map(|text| OriginPattern::parse(text).expect(text)).collect())
    }

    #[track_caller]
    fn check(rule: &OriginRule, allowed: &[&str], refused: &[&str]) {
        for origin in allowed {
            assert!(rule.allows(Some(origin), &REQUEST, false), "{origin} should be allowed by {rule:?}");
        }
        for origin in refused {
            assert!(!rule.allows(Some(origin), &REQUEST, false), "{origin} should be refused by {rule:?}");
        }
        assert!(rule.allows(None, &REQUEST, false), "a request without an origin comes from no page");
    }

    #[test]
    fn the_same_host_may_have_another_scheme_and_port() {
        let allowed = ["http://host.test:4000", "https://HOST.test:9999", "http://host.test"];
        let refused = [
            "http://other.test:4000",
            "null",
            "file://",
            "127.0.0.1",
            "host.test",
            "",
            "http://host.test.evil",
        ];
        check(&OriginRule::SameHost, &allowed, &refused);
    }

    #[test]
    fn a_configured_host_is_compared_alone() {
        let rule = OriginRule::Host("host.test".into());
        check(&rule, &["https://host.test:9999"], &["null", "file://", "127.0.0.1", "http://a.host.test"]);
    }

    #[test]
    fn a_list_without_schemes_takes_any_scheme() {
        check(
            &list(&["//example.com"]),
            &["https://example.com", "x://example.com:1"],
            &["http://notallowed.com"],
        );
        check(&list(&["//port.com:81"]), &["http://port.com:81"], &["http://port.com:82", "http://port.com"]);
        check(&list(&["//port.com:80"]), &["http://port.com"], &["https://port.com"]);
    }

    #[test]
    fn a_scheme_without_a_port_means_its_own_port() {
        let allowed = ["https://ex.com", "https://ex.com:443"];
        check(
            &list(&["https://ex.com"]),
            &allowed,
            &["http://ex.com", "https://ex.com:8443", "http://ex.com:443"],
        );
        check(&list(&["app://ex.com"]), &["app://ex.com"], &["app://ex.com:1"]);
    }

    #[test]
    fn a_wildcard_takes_the_domain_and_what_is_below() {
        let allowed = ["https://a.b.ex.com", "https://ex.com", "https://A.EX.com"];
        check(
            &list(&["https://*.ex.com"]),
            &allowed,
            &["https://prefix-ex.com", "https://com", "https://é.com"],
        );
    }

    #[test]
    fn the_rule_conn_compares_all_three() {
        let refused =
            ["https://host.test:4000", "http://host.test", "http://other.test:4000", "ws://host.test:4000"];
        check(&OriginRule::Conn, &["http://host.test:4000"], &refused);
        let secure = RequestAddress { secure: true, host: "[::1]" };
        assert!(OriginRule::Conn.allows(Some("https://[::1]:443"), &secure, false));
        assert!(!OriginRule::Conn.allows(Some("https://[::2]"), &secure, false));
    }

    #[test]
    fn leniency_takes_an_origin_without_scheme_for_a_host() {
        let local = RequestAddress { secure: false, host: "127.0.0.1:4000" };
        for rule in
            [OriginRule::SameHost, OriginRule::Host("127.0.0.1".into()), list(&["http://127.0.0.1:4000"])]
        {
            assert!(rule.allows(Some("127.0.0.1"), &local, true), "{rule:?}");
            assert!(!rule.allows(Some("127.0.0.1"), &local, false), "{rule:?}");
            assert!(!rule.allows(Some("evil.test"), &local, true), "{rule:?}");
            assert!(!rule.allows(Some("null"), &local, true), "{rule:?}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused_at_parsing() {
        for text in [
            "example.com",
            "",
            "http:example.com",
            "//",
            "https://",
            "//a.com:x",
            "1s://a",
            "a b//c",
            "//a/b",
        ] {
            assert!(OriginPattern::parse(text).is_err(), "{text}");
        }
    }
}
