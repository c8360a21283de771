//! Compiles the steps that open and close connections, and HTTP requests.

use std::time::Duration;

use super::super::plan::{Action, Connect, Dialect, HttpRequest, Target};
use super::super::source::{self, Named, PhoenixVersion};
use super::super::template::{Part, Template};
use super::Compiler;
use super::targets::{is_request_target, parse_target};

/// The heartbeat interval of Phoenix's own client.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Header fields that the handshake sets itself (RFC 6455, section 4.1).
const HANDSHAKE_HEADERS: [&str; 8] = [
    "host",
    "upgrade",
    "connection",
    "origin",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
];
/// Header fields that an HTTP request sets itself.
const REQUEST_HEADERS: [&str; 5] =
    ["host", "connection", "content-length", "transfer-encoding", "user-agent"];
/// Maximum length of a close frame's reason: its payload without the code (RFC 6455, section 5.5).
const REASON_BYTES_MAX: usize = 123;

impl Compiler<'_> {
    pub(super) fn connect(&mut self, connect: &source::Connect) -> Connect {
        let dialect = self.dialect(connect);
        if connect.room.is_some() && connect.phoenix.is_some() {
            self.complain_at("room", "with Phoenix the topics are the rooms: `join` one");
        }
        if connect.echo && connect.room.is_none() {
            self.complain_at("echo", "only with `room`");
        }
        let subprotocols = connect.subprotocols.0.clone();
        if let Some(wrong) = subprotocols.iter().find(|name| !is_token(name)) {
            self.complain_at(
                "subprotocols",
                format!("`{wrong}` has characters that a subprotocol cannot have"),
            );
        }
        Connect {
            path: self.within("path", |compiler| compiler.request_path(&connect.path)),
            dialect,
            room: connect.room.as_ref().map(|room| self.template_at("room", room)),
            echo: connect.echo,
            subprotocols,
            origin: connect.origin.as_ref().map(|origin| self.template_at("origin", origin)),
            headers: self.headers(&connect.headers, &HANDSHAKE_HEADERS),
            deflate: connect.deflate,
            connect_timeout: connect.connect_timeout.0,
            handshake_timeout: connect.handshake_timeout.0,
            reconnect: connect.reconnect.map(|pause| pause.0),
        }
    }

    fn dialect(&mut self, connect: &source::Connect) -> Dialect {
        let version = match connect.phoenix {
            Some(PhoenixVersion::V1) => proto::phoenix::Version::V1,
            Some(PhoenixVersion::V2) => proto::phoenix::Version::V2,
            None => {
                if connect.heartbeat.is_some() {
                    self.complain_at("heartbeat", "only with `phoenix: v1` or `phoenix: v2`");
                }
                return Dialect::Raw;
            }
        };
        Dialect::Phoenix {
            version,
            heartbeat: connect.heartbeat.map_or(Some(HEARTBEAT), |heartbeat| heartbeat.0),
        }
    }

    fn request_path(&mut self, path: &str) -> Template {
        let template = self.template(path);
        if matches!(template.parts.first(), Some(Part::Text(text)) if !text.starts_with('/'))
            || path.is_empty()
        {
            self.complain(format!("the path `{path}` does not begin with `/`"));
        }
        self.check_request_target(&template);
        template
    }

    fn check_request_target(&mut self, template: &Template) {
        for part in &template.parts {
            if let Part::Text(text) = part
                && !is_request_target(text)
            {
                let help = "percent-encode it: `%20` for a blank".to_owned();
                self.complain_with("a path has no blanks and control characters", Some(help));
                return;
            }
        }
    }

    fn headers(&mut self, headers: &Named<String>, own: &[&str]) -> Vec<(String, Template)> {
        self.within("headers", |compiler| {
            let lines = headers.0.iter().map(|(name, value)| {
                compiler.within(name, |compiler| {
                    if !is_token(name) {
                        compiler.complain(format!("`{name}` cannot be a header's name"));
                    } else if own.contains(&name.to_ascii_lowercase().as_str()) {
                        compiler.complain(format!("the header `{name}` is written by the step itself"));
                    }
                    if value.contains(|c: char| c.is_control() && c != '\t') {
                        compiler.complain("a header's value has no line breaks and control characters");
                    }
                    (name.clone(), compiler.template(value))
                })
            });
            lines.collect()
        })
    }

    pub(super) fn http(&mut self, http: &source::Http, targets: &[Target]) -> HttpRequest {
        let (key, method, url) = self.method_and_url(http);
        let url = self.within(key, |compiler| compiler.url(url, targets));
        let mut headers = self.headers(&http.headers, &REQUEST_HEADERS);
        if http.body.is_some() && http.json.is_some() {
            self.complain("a request's body is one of `body` and `json`");
        }
        let body = match (&http.body, &http.json) {
            (Some(body), _) => Some(self.template_at("body", body)),
            (None, Some(json)) => {
                if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                    headers.push(("Content-Type".to_owned(), Template::text("application/json")));
                }
                Some(self.within("json", |compiler| compiler.json(json)))
            }
            (None, None) => None,
        };
        if let Some(wrong) = http.expect.0.iter().find(|status| !(100..=599).contains(*status)) {
            self.complain_at("expect", format!("{wrong} is no HTTP status"));
        }
        HttpRequest {
            method,
            url,
            headers,
            body,
            connect_timeout: http.connect_timeout.map_or(http.timeout.0, |limit| limit.0.min(http.timeout.0)),
            timeout: http.timeout.0,
            expect: http.expect.0.clone(),
            keep_alive: http.keep_alive,
        }
    }

    /// Returns the key under which the URL was given, the method, and the URL.
    fn method_and_url<'h>(&mut self, http: &'h source::Http) -> (&'static str, String, &'h str) {
        let named = [
            ("get", "GET", &http.get),
            ("post", "POST", &http.post),
            ("put", "PUT", &http.put),
            ("patch", "PATCH", &http.patch),
            ("delete", "DELETE", &http.delete),
            ("head", "HEAD", &http.head),
        ];
        let mut given: Vec<(&'static str, String, &'h str)> = named
            .iter()
            .filter_map(|(key, method, url)| url.as_deref().map(|url| (*key, (*method).to_owned(), url)))
            .collect();
        if let Some(method) = &http.method {
            if !is_token(method) {
                self.complain_at("method", format!("`{method}` cannot be a method"));
            }
            given.push(("url", method.clone(), http.url.as_deref().unwrap_or_default()));
        } else if http.url.is_some() {
            self.complain_at("url", "only with `method`; else write `get: /path`");
        }
        if given.len() != 1 {
            let help =
                "one of `get`, `post`, `put`, `patch`, `delete`, `head`, or `method` and `url`".to_owned();
            self.complain_with("a request has one method and one URL", Some(help));
        }
        given.pop().unwrap_or(("get", "GET".to_owned(), "/"))
    }

    fn url(&mut self, url: &str, targets: &[Target]) -> Template {
        if url.starts_with('/') || !url.contains("://") {
            return self.request_path(url);
        }
        let template = self.template(url);
        self.check_request_target(&template);
        let origin_end =
            url.find("://").and_then(|place| url[place + 3..].find(['/', '?']).map(|end| place + 3 + end));
        let origin = &url[..origin_end.unwrap_or(url.len())];
        if origin.contains("{{") {
            return template;
        }
        match parse_target(origin) {
            Err(message) => self.complain(format!("`{url}` {message}")),
            Ok(wanted) => {
                let same = |target: &Target| {
                    (target.tls, target.port, target.host.as_str())
                        == (wanted.tls, wanted.port, wanted.host.as_str())
                };
                if !targets.iter().any(same) {
                    let help = "add it to `targets`, or write the path only".to_owned();
                    self.complain_with(format!("`{origin}` is not one of the targets"), Some(help));
                }
            }
        }
        template
    }

    pub(super) fn close(&mut self, close: &source::Close) -> Action {
        // RFC 6455, section 7.4: 1004, 1005, 1006 and 1015 must not be sent.
        if !matches!(close.code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
            self.complain_at(
                "code",
                format!(
                    "{} cannot stand in a close frame: 1000 to 1003, 1007 to 1014, 3000 to 4999",
                    close.code
                ),
            );
        }
        if close.reason.len() > REASON_BYTES_MAX {
            self.complain_at("reason", format!("longer than {REASON_BYTES_MAX} bytes"));
        }
        Action::Close { code: close.code, reason: close.reason.clone() }
    }
}

/// Returns whether the text is a token (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}
