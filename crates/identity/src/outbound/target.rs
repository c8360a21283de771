//! Where a request may be sent.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::Uri;

/// Maximum length of a URL, in bytes.
const TARGET_BYTES_MAX: usize = 2048;

/// A URL of a host site: `https`, or `http` on this machine.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Target {
    uri: Uri,
}

impl Target {
    /// Parses a URL.
    ///
    /// # Errors
    /// [`BadTarget`].
    pub fn parse(text: &str) -> Result<Self, BadTarget> {
        if text.len() > TARGET_BYTES_MAX {
            return Err(BadTarget::TooLong);
        }
        let uri: Uri = text.parse().map_err(|_| BadTarget::NotAbsolute)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(BadTarget::NotAbsolute);
        };
        if authority.as_str().contains('@') {
            return Err(BadTarget::UserInfo);
        }
        if authority.host().is_empty() || text.contains('#') {
            return Err(BadTarget::NotAbsolute);
        }
        match scheme {
            "https" => Ok(Target { uri }),
            "http" if is_this_machine(bare(authority.host())) => Ok(Target { uri }),
            "http" => Err(BadTarget::Plain),
            _ => Err(BadTarget::Scheme),
        }
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }
}

/// A host without the brackets around an IPv6 address.
pub(super) fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || host.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for Target {
    /// Leaves out the query, in which some sites put a secret.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        write!(to, "{scheme}://{authority}{}", self.uri.path())
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Target({self})")
    }
}

/// Why a text is not a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTarget {
    /// It has more than 2048 bytes.
    TooLong,
    /// It is not of the form `https://host/path`.
    NotAbsolute,
    /// It is neither `https` nor `http`.
    Scheme,
    /// It is `http`, but not on this machine.
    Plain,
    /// It contains a user name or password.
    UserInfo,
}

impl fmt::Display for BadTarget {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            BadTarget::TooLong => "a URL must not have more than 2048 bytes",
            BadTarget::NotAbsolute => "not a URL of the form https://host/path",
            BadTarget::Scheme => "a URL must begin with https://",
            BadTarget::Plain => {
                "http:// is only allowed for this machine (127.0.0.0/8, [::1], localhost): use https://"
            }
            BadTarget::UserInfo => "a URL must not contain a user name or password",
        })
    }
}

impl std::error::Error for BadTarget {}

#[cfg(test)]
mod tests {
    use super::{BadTarget, Target};

    #[test]
    fn https_is_the_rule_and_http_is_for_this_machine() {
        for good in [
            "https://site.example/hook",
            "https://site.example:8443",
            "https://[2001:db8::1]/",
            "http://127.0.0.1:9/x?y",
            "http://localhost",
            "http://[::1]:80/",
        ] {
            assert!(Target::parse(good).is_ok(), "{good}");
        }
        let long = format!("https://site.example/{}", "x".repeat(2048));
        for (bad, why) in [
            ("http://site.example/", BadTarget::Plain),
            ("http://127.0.0.1.site.example/", BadTarget::Plain),
            ("http://0.0.0.0/", BadTarget::Plain),
            ("ftp://site.example/", BadTarget::Scheme),
            ("https://ann:secret@site.example/", BadTarget::UserInfo),
            ("/hook", BadTarget::NotAbsolute),
            ("site.example", BadTarget::NotAbsolute),
            ("https://site.example/#part", BadTarget::NotAbsolute),
            ("https:///hook", BadTarget::NotAbsolute),
            (long.as_str(), BadTarget::TooLong),
        ] {
            assert_eq!(Target::parse(bad), Err(why), "{bad}");
        }
    }

    #[test]
    fn a_query_is_not_shown() {
        let target = Target::parse("https://site.example/hook?token=hidden").expect("a target");
        assert_eq!(
            format!("{target} {target:?}"),
            "https://site.example/hook Target(https://site.example/hook)"
        );
    }
}
