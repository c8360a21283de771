//! Where an engine is, as one URL.

use async_nats::ServerAddr;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion};
use std::fmt;

/// One server of an engine. Written for people it has no password.
#[derive(Clone)]
pub struct Address {
    shown: String,
    pub(crate) server: Server,
}

/// Which engine, and how it is reached.
#[derive(Clone)]
pub(crate) enum Server {
    Redis(Box<ConnectionInfo>),
    RedisCluster(Box<ConnectionInfo>),
    Nats(ServerAddr),
}

/// Why a URL is no address; says what to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadAddress {
    /// It is no URL, or has no host.
    NotAUrl,
    /// No engine goes by this scheme.
    UnknownScheme,
    /// `#insecure` would take any certificate for the server's.
    Insecure,
}

impl Address {
    /// Reads `redis://[name[:password]@]host[:port][/database]` or `nats://[name:password@|token@]host[:port]`; with TLS it is
    /// `rediss://…` or `tls://…`. `redis-cluster://…` and `rediss-cluster://…` are a server of a Redis Cluster. `valkey` and
    /// `valkeys` in place of `redis` and `rediss` are the same.
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
    // Publications come beside answers on one connection, which the older protocol cannot do.
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    Ok(Box::new(info.set_redis_settings(settings)))
}

/// Whether it is spoken to by TLS.
pub(crate) fn is_encrypted(info: &ConnectionInfo) -> bool {
    matches!(info.addr(), ConnectionAddr::TcpTls { .. })
}

/// A URL, or what somebody took for one, without what stands before its `@`.
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
