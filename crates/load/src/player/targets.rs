//! The servers under test, resolved once before the run: no user ever waits for name resolution.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use super::error::PlayError;
use super::trust::client_config;
use crate::draw::{Rng, Weighted};
use crate::scenario::plan::{Plan, Target, TargetId};

/// Maximum number of draws to find another target. If the weights hit the same one that often, users seldom go
/// elsewhere anyway.
const DRAWS_MAX: usize = 16;

/// All targets of a run.
#[derive(Debug)]
pub(crate) struct Targets {
    all: Vec<ResolvedTarget>,
    /// The weighted draw of users' targets; `None` leaves only the first.
    weights: Option<Weighted>,
    /// Set if any target uses TLS.
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// A server under test.
#[derive(Debug)]
pub(crate) struct ResolvedTarget {
    /// Addresses of one family, at least one; users take them in turn.
    pub(crate) addresses: Vec<SocketAddr>,
    /// `host`, or `host:port` if the port is not the scheme's default.
    pub(crate) host: String,
    /// Prefix of each path.
    pub(crate) base_path: String,
    /// Set if the target uses TLS.
    pub(crate) server_name: Option<ServerName<'static>>,
    name: String,
    port: u16,
}

impl Targets {
    /// Resolves the plan's targets to addresses that the sources can reach.
    pub(crate) fn resolve(plan: &Plan) -> Result<Self, PlayError> {
        let all = plan.targets.iter().map(|target| resolve(target, &plan.sources.addresses));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let weights: Vec<f64> = plan.targets.iter().map(|target| target.weight).collect();
        let weights = Weighted::new(&weights).ok();
        let has_tls = plan.targets.iter().any(|target| target.tls);
        let tls = has_tls.then(|| client_config(&plan.tls)).transpose()?;
        Ok(Self { all, weights, tls })
    }

    /// Draws a user's target.
    pub(crate) fn draw(&self, rng: &mut Rng) -> TargetId {
        TargetId(self.weights.as_ref().map_or(0, |weights| weights.draw(rng)) as u16)
    }

    /// Draws a target for a user whose connection to `failed` has failed: another one, if there is one.
    pub(crate) fn draw_other(&self, rng: &mut Rng, failed: TargetId) -> TargetId {
        let drawn = (0..DRAWS_MAX).map(|_| self.draw(rng)).find(|drawn| *drawn != failed);
        drawn.unwrap_or(failed)
    }

    /// Returns a target of the plan.
    pub(crate) fn target(&self, id: TargetId) -> &ResolvedTarget {
        &self.all[usize::from(id.0)]
    }

    /// Returns the target that an absolute URL names, and the rest of the URL, its request target.
    pub(crate) fn of_url<'u>(&self, url: &'u str) -> Option<(TargetId, &'u str)> {
        let (scheme, rest) = url.split_once("://")?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            Some(_) | None => (authority, if tls { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let matches = |target: &ResolvedTarget| {
            target.server_name.is_some() == tls
                && target.port == port
                && target.name.eq_ignore_ascii_case(host)
        };
        let place = self.all.iter().position(matches)?;
        Some((TargetId(place as u16), path))
    }
}

fn resolve(target: &Target, sources: &[IpAddr]) -> Result<ResolvedTarget, PlayError> {
    let failed = |error: io::Error| PlayError::Resolve { host: target.host.clone(), error };
    let name = target.host.trim_start_matches('[').trim_end_matches(']');
    let mut addresses: Vec<SocketAddr> = (name, target.port).to_socket_addrs().map_err(failed)?.collect();
    // One family, so that a server that listens on only one does not refuse half of the connections. IPv4 comes first,
    // as `localhost` and test networks use it.
    let wants_v4 = match sources.first() {
        Some(source) => source.is_ipv4(),
        None => addresses.iter().any(SocketAddr::is_ipv4),
    };
    addresses.retain(|address| address.is_ipv4() == wants_v4);
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.is_empty() {
        let family = if wants_v4 { "no IPv4 address" } else { "no IPv6 address" };
        return Err(failed(io::Error::new(io::ErrorKind::AddrNotAvailable, family)));
    }
    let bad_name = |_| PlayError::ServerName { host: target.host.clone() };
    let server_name =
        target.tls.then(|| ServerName::try_from(name.to_owned())).transpose().map_err(bad_name)?;
    Ok(ResolvedTarget {
        addresses,
        host: authority(name, target.port, target.tls),
        base_path: target.base_path.clone(),
        server_name,
        name: name.to_owned(),
        port: target.port,
    })
}

/// RFC 9110, section 7.2: the port is omitted if it is the scheme's default; an IPv6 address is in brackets.
fn authority(name: &str, port: u16, tls: bool) -> String {
    let host = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
    let own_port = if tls { 443 } else { 80 };
    if port == own_port { host } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: u16) -> Target {
        Target { tls: false, host: host.to_owned(), port, base_path: String::new(), weight: 1.0 }
    }

    fn targets(all: &[Target]) -> Targets {
        let all = all.iter().map(|target| resolve(target, &[]).expect("an address")).collect();
        Targets { all, weights: Weighted::new(&[0.0, 4.0]).ok(), tls: None }
    }

    #[test]
    fn hosts_are_written_as_http_wants_them() {
        assert_eq!(authority("a.test", 80, false), "a.test");
        assert_eq!(authority("a.test", 80, true), "a.test:80");
        assert_eq!(authority("::1", 4000, false), "[::1]:4000");
    }

    #[test]
    fn a_target_is_found_by_its_url() {
        let targets = targets(&[target("127.0.0.1", 80), target("[::1]", 4000)]);
        assert_eq!(targets.of_url("http://127.0.0.1/a?b"), Some((TargetId(0), "/a?b")));
        assert_eq!(targets.of_url("ws://[::1]:4000"), Some((TargetId(1), "")));
        for other in ["http://127.0.0.1:81/", "https://127.0.0.1/", "/a", "ftp://127.0.0.1/"] {
            assert_eq!(targets.of_url(other), None, "{other}");
        }
    }

    #[test]
    fn targets_are_drawn_by_their_weights() {
        let targets = targets(&[target("127.0.0.1", 1), target("127.0.0.2", 2)]);
        let mut rng = Rng::for_user(1, 1);
        assert!((0..100).all(|_| targets.draw(&mut rng) == TargetId(1)));
    }

    #[test]
    fn whose_target_has_failed_gets_another_one_where_there_is_one() {
        let all = [target("127.0.0.1", 1), target("127.0.0.2", 2), target("127.0.0.3", 3)];
        let mut targets = targets(&all);
        let mut rng = Rng::for_user(1, 1);
        assert_eq!(targets.draw_other(&mut rng, TargetId(1)), TargetId(1), "nobody goes to the others");
        targets.weights = Weighted::new(&[1.0, 1.0, 1.0]).ok();
        let drawn: Vec<TargetId> = (0..100).map(|_| targets.draw_other(&mut rng, TargetId(1))).collect();
        assert!(
            drawn.contains(&TargetId(0)) && drawn.contains(&TargetId(2)) && !drawn.contains(&TargetId(1))
        );
    }

    #[test]
    fn a_source_decides_the_family() {
        let v6: IpAddr = "::1".parse().expect("an address");
        assert!(resolve(&target("127.0.0.1", 1), &[v6]).is_err());
        assert!(resolve(&target("127.0.0.1", 1), &[]).is_ok());
    }
}
