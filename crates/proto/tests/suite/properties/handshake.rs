//! The values of a handshake: any input gives a result or an error.

use proto::handshake::{
    OriginPattern, OriginRule, RequestAddress, auth_token_and_protocols, is_websocket_key, parse_query,
};
use proto::phoenix::Version;
use proto::ws::deflate::{Agreed, DeflateConfig, negotiate};

/// Passes each line of text to every function that checks a value.
pub fn values_are_judged(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        let _ = parse_query(line);
        let _ = is_websocket_key(line);
        let _ = Version::negotiate(Some(line));
        if let Ok(offered) = auth_token_and_protocols(Some(line)) {
            assert!(offered.protocols.iter().all(|protocol| line.contains(protocol)));
        }
        check_deflate(line);
        check_origin(line);
    }
}

/// What we agree to is a response that our client accepts.
fn check_deflate(line: &str) {
    let _ = Agreed::from_response(line);
    if let Some(agreed) = negotiate(&DeflateConfig::default(), [line].into_iter()) {
        assert!((9..=15).contains(&agreed.server_window_bits));
        assert_eq!(Agreed::from_response(&agreed.response_header()), Some(agreed));
    }
}

/// What a strict rule allows, a lenient one allows too.
fn check_origin(line: &str) {
    let request = RequestAddress { secure: false, host: "host.test" };
    let list = OriginPattern::parse(line).map(|pattern| OriginRule::List(vec![pattern]));
    let rules = [OriginRule::SameHost, OriginRule::Host(line.to_owned()), OriginRule::Conn];
    for rule in rules.into_iter().chain(list) {
        let is_allowed = rule.allows(Some(line), &request, false);
        assert!(!is_allowed || rule.allows(Some(line), &request, true), "{rule:?} {line:?}");
    }
    for host in [line, "[::1]:80"] {
        let _ = OriginRule::Conn.allows(Some(line), &RequestAddress { secure: true, host }, true);
    }
}
