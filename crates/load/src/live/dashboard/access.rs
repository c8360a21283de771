//! Access control: who may query the dashboard, and who may stop the run.
//!
//! Any web page open in a browser on this machine can make it send requests here. Such a request has either a foreign
//! `Host` (the page's own name, resolved to this address: DNS rebinding), for which everything is refused, or a foreign
//! `Origin`, for which anything that changes state is refused (the browser withholds the responses to the rest from
//! that page). A program that sends no `Origin` is assumed to be the user's.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

const TOKEN_BYTES: usize = 16;
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The access rules of one dashboard.
#[derive(Clone, Debug)]
pub(super) struct Access {
    host_names: Arc<[String]>,
    /// Required if the dashboard is reachable from other machines.
    token: Option<Arc<str>>,
}

/// Why a request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// The `Host` is not one of ours.
    Host,
    /// The request comes from a page of another origin.
    Origin,
    /// The token is missing or wrong.
    Token,
}

impl Access {
    /// Returns the rules for a dashboard that listens on this address.
    pub(super) fn new(address: SocketAddr, host_names: Vec<String>) -> io::Result<Self> {
        let token = if address.ip().is_loopback() { None } else { Some(random_token()?.into()) };
        Ok(Self { host_names: host_names.into(), token })
    }

    /// Returns the page's URL, with the token in the fragment, which browsers never send to a server.
    pub(super) fn url(&self, address: SocketAddr) -> String {
        match &self.token {
            Some(token) => format!("http://{address}/#token={token}"),
            None => format!("http://{address}/"),
        }
    }

    /// Returns whether stopping the run requires a token.
    pub(super) fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks whether a request may be answered at all.
    fn judge_host(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let name = host_name(text(headers, &HOST).unwrap_or_default());
        let is_ours = name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.host_names.iter().any(|ours| name.eq_ignore_ascii_case(ours));
        if is_ours { Ok(()) } else { Err(Refusal::Host) }
    }

    /// Checks whether a request may stop the run.
    pub(super) fn judge_stop(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_from_here = text(headers, &SEC_FETCH_SITE)
            .is_none_or(|site| matches!(site, "same-origin" | "none"))
            && match headers.get(ORIGIN) {
                Some(_) => is_same_origin(text(headers, &ORIGIN), text(headers, &HOST)),
                None => true,
            };
        if !is_from_here {
            return Err(Refusal::Origin);
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given =
            text(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        if bool::from(given.as_bytes().ct_eq(token.as_bytes())) { Ok(()) } else { Err(Refusal::Token) }
    }
}

/// Wraps the router so that requests for other hosts are refused before anything else.
pub(super) fn guarded(router: Router, access: Access) -> Router {
    router.layer(middleware::from_fn_with_state(access, judge))
}

async fn judge(State(access): State<Access>, request: Request, next: Next) -> Response {
    match access.judge_host(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Returns the value of a header that occurs exactly once and is text.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() { None } else { Some(value) }
}

/// Returns the host in `name:port` or `[address]:port`.
fn host_name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// RFC 6454 section 6.2: an origin is serialized as `scheme://host:port`, or as `null`. A proxy in between may have
/// changed the scheme; host and port are what a foreign page cannot have.
fn is_same_origin(origin: Option<&str>, host: Option<&str>) -> bool {
    let authority = origin.and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
    matches!((authority, host), (Some(authority), Some(host)) if authority.eq_ignore_ascii_case(host))
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Refusal::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "this dashboard is asked for by address or as localhost; other names are to be allowed when it is \
                 started\n",
            ),
            Refusal::Origin => (StatusCode::FORBIDDEN, "only the dashboard's own page may stop the run\n"),
            Refusal::Token => (
                StatusCode::UNAUTHORIZED,
                "stopping the run asks for the token in the address that the run printed: \
                 `Authorization: Bearer TOKEN`\n",
            ),
        }
        .into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(pairs: &[(&HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_str(value).expect("a value"));
        }
        headers
    }

    fn local() -> Access {
        Access::new(([127, 0, 0, 1], 8091).into(), vec!["lab.example".into()]).expect("no token is drawn")
    }

    #[test]
    fn a_foreign_host_is_refused() {
        for host in
            ["127.0.0.1:8091", "localhost:8091", "LOCALHOST", "[::1]:8091", "10.0.0.7:80", "lab.example:8091"]
        {
            assert_eq!(local().judge_host(&headers(&[(&HOST, host)])), Ok(()), "{host}");
        }
        for host in ["evil.example:8091", "", "127.0.0.1.evil.example", "localhost.evil.example:8091"] {
            assert_eq!(local().judge_host(&headers(&[(&HOST, host)])), Err(Refusal::Host), "{host}");
        }
        assert_eq!(local().judge_host(&headers(&[])), Err(Refusal::Host));
        assert_eq!(local().judge_host(&headers(&[(&HOST, "localhost"), (&HOST, "x")])), Err(Refusal::Host));
    }

    #[test]
    fn only_the_own_page_and_programs_may_stop_the_run() {
        let host = (&HOST, "127.0.0.1:8091");
        for sent in [
            vec![host],
            vec![host, (&ORIGIN, "http://127.0.0.1:8091")],
            vec![host, (&ORIGIN, "http://127.0.0.1:8091"), (&SEC_FETCH_SITE, "same-origin")],
        ] {
            assert_eq!(local().judge_stop(&headers(&sent)), Ok(()), "{sent:?}");
        }
        for sent in [
            vec![host, (&ORIGIN, "http://evil.example")],
            vec![host, (&ORIGIN, "http://127.0.0.1:8092")],
            vec![host, (&ORIGIN, "null")],
            vec![host, (&SEC_FETCH_SITE, "cross-site")],
            vec![host, (&ORIGIN, "http://127.0.0.1:8091"), (&ORIGIN, "http://evil.example")],
        ] {
            assert_eq!(local().judge_stop(&headers(&sent)), Err(Refusal::Origin), "{sent:?}");
        }
    }

    #[test]
    fn beyond_this_machine_stopping_asks_for_the_token() {
        let address = ([0, 0, 0, 0], 8091).into();
        let access = Access::new(address, Vec::new()).expect("a token");
        let url = access.url(address);
        let (_, token) = url.split_once("#token=").expect("a token in the address");
        let bearer = |token: &str| format!("Bearer {token}");
        assert_eq!(access.judge_stop(&headers(&[(&AUTHORIZATION, &bearer(token))])), Ok(()));
        for wrong in ["", "Bearer ", "Bearer 00", token] {
            assert_eq!(
                access.judge_stop(&headers(&[(&AUTHORIZATION, wrong)])),
                Err(Refusal::Token),
                "{wrong}"
            );
        }
        assert_eq!(local().url(([127, 0, 0, 1], 8091).into()), "http://127.0.0.1:8091/");
    }
}
