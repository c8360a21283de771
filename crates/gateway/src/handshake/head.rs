//! A request head, whichever parser produced it.

use proto::handshake::RequestAddress;
use std::net::SocketAddr;

/// Headers as received; names in any case.
pub(crate) struct Head<'a> {
    pub(crate) method: &'a str,
    /// Path and query.
    pub(crate) target: &'a str,
    pub(crate) is_http11: bool,
    pub(crate) headers: &'a [(&'a str, &'a [u8])],
    pub(crate) secure: bool,
    /// `None` if nobody will ask for it, since it costs a system call.
    pub(crate) remote: Option<SocketAddr>,
}

impl<'a> Head<'a> {
    pub(crate) fn path(&self) -> &'a str {
        self.target.split_once('?').map_or(self.target, |(path, _)| path)
    }

    pub(crate) fn query(&self) -> &'a str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// Iterates over the values of a header that are text.
    pub(crate) fn all(&self, name: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
        let named = self.headers.iter().filter(move |(header, _)| header.eq_ignore_ascii_case(name));
        named.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// Iterates over all values of a header, as bytes.
    pub(crate) fn values(&self, name: &'static str) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let named = self.headers.iter().filter(move |(header, _)| header.eq_ignore_ascii_case(name));
        named.map(|(_, value)| *value)
    }

    pub(crate) fn first(&self, name: &'static str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// Returns whether a comma-separated header contains this entry, in any case.
    pub(crate) fn lists(&self, name: &'static str, entry: &str) -> bool {
        self.all(name).flat_map(|value| value.split(',')).any(|item| item.trim().eq_ignore_ascii_case(entry))
    }

    pub(crate) fn address(&self) -> RequestAddress<'a> {
        RequestAddress { secure: self.secure, host: self.first("host").unwrap_or("") }
    }
}
