//! Settings of the bus between nodes.

use super::raw::Raw;
use super::shape::Shape;
use bus::Address;

/// The instances of one engine: a URL, or a list of them; in the environment, a comma-separated list.
pub(crate) struct Addresses;

impl Shape for Addresses {
    type Value = Vec<Address>;

    fn expected(&self) -> String {
        "a URL such as \"redis://USER:PASSWORD@HOST:6379\" or \"nats://HOST:4222\" (for TLS \"rediss://…\" or \
         \"tls://…\"), or a list of them".into()
    }

    fn parse(&self, raw: &Raw) -> Option<Vec<Address>> {
        let urls: Vec<&str> = match raw {
            Raw::Text(text) => text.split(',').map(str::trim).collect(),
            Raw::List(items) => items.iter().map(Raw::text).collect::<Option<_>>()?,
            Raw::Integer(_) | Raw::Boolean(_) | Raw::Other(_) => return None,
        };
        let addresses = urls.into_iter().map(|url| Address::parse(url).ok());
        addresses.collect::<Option<Vec<_>>>().filter(|addresses| !addresses.is_empty())
    }
}

/// The prefix of keys and channels: letters, digits, `-`, `_`, `.` and `:`.
pub(crate) struct Prefix;

impl Shape for Prefix {
    type Value = String;

    fn expected(&self) -> String {
        "1 to 64 letters, digits, \"-\", \"_\", \".\" or \":\"".into()
    }

    fn parse(&self, raw: &Raw) -> Option<String> {
        let text = raw.text()?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        ((1..=64).contains(&text.len()) && text.bytes().all(plain)).then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_url_or_several_are_read() {
        let count = |raw| Addresses.parse(&raw).map(|addresses| addresses.len());
        assert_eq!(count(Raw::Text("redis://a:1".into())), Some(1));
        assert_eq!(count(Raw::Text("redis://a:1, rediss://b".into())), Some(2));
        assert_eq!(count(Raw::List(vec![Raw::Text("redis://a".into())])), Some(1));
        for wrong in [Raw::Text(String::new()), Raw::Text("a:1".into()), Raw::List(vec![]), Raw::Integer(1)] {
            assert_eq!(count(wrong), None);
        }
    }
}
