//! Targets and TLS trust.

use std::net::Ipv6Addr;

use super::super::plan::{Target, TlsTrust};
use super::Compiler;

const EXAMPLE: &str = "write `ws://host:port/path` (or wss, http, https)";

impl Compiler<'_> {
    pub(super) fn targets(&mut self) -> Vec<Target> {
        let scenario = self.scenario;
        match (&scenario.target, scenario.targets.is_empty()) {
            (Some(url), true) => {
                self.within("target", |compiler| compiler.target(url, 1.0)).into_iter().collect()
            }
            (Some(_), false) => {
                self.complain_at("targets", "either `target` or `targets`, not both");
                Vec::new()
            }
            (None, false) => self.within("targets", |compiler| {
                let targets = scenario.targets.iter().enumerate().filter_map(|(index, target)| {
                    compiler.within_item(index, |compiler| {
                        if !(target.weight.is_finite() && target.weight > 0.0) {
                            compiler.complain_at("weight", "a target's weight is above 0");
                        }
                        compiler.within("url", |compiler| compiler.target(&target.url, target.weight))
                    })
                });
                targets.collect()
            }),
            (None, true) => {
                self.complain_with("there is no `target`", Some(EXAMPLE.to_owned()));
                Vec::new()
            }
        }
    }

    fn target(&mut self, url: &str, weight: f64) -> Option<Target> {
        match parse_target(url) {
            Ok(target) => Some(Target { weight, ..target }),
            Err(message) => {
                self.complain_with(format!("`{url}` {message}"), Some(EXAMPLE.to_owned()));
                None
            }
        }
    }

    pub(super) fn tls(&mut self) -> TlsTrust {
        let tls = &self.scenario.tls;
        let authorities = tls.ca.as_ref().map(|file| self.context.base_dir.join(file));
        if let Some(path) = &authorities
            && !path.is_file()
        {
            self.within("tls", |compiler| {
                compiler.complain_at("ca", format!("there is no file {}", path.display()));
            });
        }
        TlsTrust { authorities, insecure: tls.insecure }
    }
}

/// Parses a target's URL (the part of RFC 3986 that a target needs); its weight is 1.
pub(super) fn parse_target(url: &str) -> Result<Target, String> {
    let (scheme, rest) = url.split_once("://").ok_or("has no scheme")?;
    let tls = match scheme.to_ascii_lowercase().as_str() {
        "ws" | "http" => false,
        "wss" | "https" => true,
        _ => return Err(format!("has the scheme `{scheme}`, which is not played")),
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    if path.contains(['?', '#']) || authority.contains(['?', '#']) {
        return Err("has a query; queries belong to the steps' paths".to_owned());
    }
    if authority.contains('@') {
        return Err("has a user; credentials belong to the steps' headers".to_owned());
    }
    if !is_request_target(path) {
        return Err("has a path with blanks or control characters".to_owned());
    }
    let (host, port) = split_port(authority)?;
    let port = match port {
        None if tls => 443,
        None => 80,
        Some(port) => {
            port.parse().ok().filter(|port| *port > 0).ok_or("has a port that is not 1 to 65535")?
        }
    };
    let base_path = path.trim_end_matches('/').to_owned();
    Ok(Target { tls, host, port, base_path, weight: 1.0 })
}

/// Splits an authority into host and port; the brackets of an IPv6 address are removed.
fn split_port(authority: &str) -> Result<(String, Option<&str>), String> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, after) = rest.split_once(']').ok_or("has an address without `]`")?;
        let address: Ipv6Addr = address.parse().map_err(|_| "has no IPv6 address in its brackets")?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((address.to_string(), Some(port))),
            None if after.is_empty() => Ok((address.to_string(), None)),
            None => Err("has something between its address and its port".to_owned()),
        };
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if host.is_empty() || !host.chars().all(allowed) {
        return Err("has no host, or one with characters that a name cannot have".to_owned());
    }
    Ok((host.to_ascii_lowercase(), port))
}

/// Returns whether a text is a valid request target for a request line (RFC 9112, section 3.2).
pub(super) fn is_request_target(text: &str) -> bool {
    text.bytes().all(|byte| byte > b' ' && byte != 0x7f)
}
