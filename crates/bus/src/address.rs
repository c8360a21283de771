//! The address of an engine's server, as a URL.

use async_nats::ServerAddr;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion};
use std::fmt;

/// The address of one server of an engine. Its `Display` and `Debug` forms contain no password.
#[derive(Clone)]
pub struct Address {
    shown: String,
    pub(crate) server: Server,
}

/// The engine, and how to connect to it.
#[derive(Clone)]
pub(crate) enum Server {
    Redis(Box<ConnectionInfo>),
    RedisCluster(Box<ConnectionInfo>),
    Nats(ServerAddr),
}

/// Why a URL is not a valid address; the message contains what to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadAddress {
    /// It is not a URL, or has no host.
    NotAUrl,
    /// The scheme does not belong to an engine.
    UnknownScheme,
    /// `#insecure` would accept any certificate.
    Insecure,
}

impl Address {
    /// Parses `redis://[name[:password]@]host[:port][/database]` or `nats://[name:password@|token@]host[:port]`; with
    /// TLS it is `rediss://…` or `tls://…`. `redis-cluster://…` and `rediss-cluster://…` are a server of a Redis
    /// Cluster. `valkey` and `valkeys` are synonyms of `redis` and `rediss`.
    pub fn parse(url: &str) -> Result<Address, BadAddress> {
        let (scheme, _) = url.split_once("://").ok_or(BadAddress::NotAUrl)?;
        if url.contains('#') {
            return Err(BadAddress::Insecure);
        }
        let server = match scheme {
            "redis" | "rediss" | "valkey" | "valkeys" => Server::Redis(redis_server(url)?),
            "redis-cluster" | "rediss-cluster" | "valkey-cluster" | "valkeys-cluster" => {
                Server::RedisCluster(redis_server(&url.replacen("-cluster://", "://", 1))?)
            }
            "nats" | "tls" => Server::Nats(url.parse().map_err(|_| BadAddress::NotAUrl)?),
            _ => return Err(BadAddress::UnknownScheme),
        };
        Ok(Address { shown: redacted(url), server })
    }
}

fn redis_server(url: &str) -> Result<Box<ConnectionInfo>, BadAddress> {
    let info = url.into_connection_info().map_err(|_| BadAddress::NotAUrl)?;
    // Publications and answers share one connection, which the older protocol does not support.
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    Ok(Box::new(info.set_redis_settings(settings)))
}

/// Returns whether it uses TLS.
pub(crate) fn is_encrypted(info: &ConnectionInfo) -> bool {
    matches!(info.addr(), ConnectionAddr::TcpTls { .. })
}

/// Returns a URL, or text meant as one, without anything before its `@`.
pub fn redacted(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://…@{host}"),
            None => url.to_owned(),
        },
        None => url.rsplit_once('@').map_or_else(|| url.to_owned(), |(_, host)| format!("…@{host}")),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadAddress::NotAUrl => "not a URL: write redis://HOST:PORT or nats://HOST:PORT",
            BadAddress::UnknownScheme => {
                "unknown scheme: write redis://, rediss://, redis-cluster://, nats:// or tls://"
            }
            BadAddress::Insecure => {
                "URLs with a fragment are not allowed, as it would turn off certificate checks: set \
                 `bus.certificate_authority` instead"
            }
        })
    }
}

impl std::error::Error for BadAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("redis://127.0.0.1:6379", "redis://127.0.0.1:6379"),
            ("rediss://ann:s3cret@bus.example:6380/2", "rediss://…@bus.example:6380/2"),
            ("redis://:p%40ss@[::1]:6379", "redis://…@[::1]:6379"),
            ("valkey://host", "valkey://host"),
            ("rediss-cluster://ann:s3cret@host:6379", "rediss-cluster://…@host:6379"),
            ("nats://ann:s3cret@host:4222", "nats://…@host:4222"),
        ] {
            let address = Address::parse(url).expect(url);
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), shown);
        }
        assert_eq!(redacted("ann:s3cret@host"), "…@host");
        assert_eq!(redacted("redis://a:p@ss@host"), "redis://…@host");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (url, error) in [
            ("", BadAddress::NotAUrl),
            ("127.0.0.1:6379", BadAddress::NotAUrl),
            ("redis://", BadAddress::NotAUrl),
            ("redis://host:port", BadAddress::NotAUrl),
            ("redis-cluster://", BadAddress::NotAUrl),
            ("nats://host:port", BadAddress::NotAUrl),
            ("http://127.0.0.1", BadAddress::UnknownScheme),
            ("rediss://host/#insecure", BadAddress::Insecure),
        ] {
            assert_eq!(Address::parse(url).expect_err(url), error);
        }
    }
}
