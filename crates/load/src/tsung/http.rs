//! `http`: one request and its response.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::document::Element;
use super::requests::{Answer, Substitution};
use super::sessions::SessionReader;
use crate::scenario::source::{Action, Http, Step};

/// Header fields that an HTTP request sets itself.
const REQUEST_HEADERS: &[&str] = &["host", "connection", "content-length", "transfer-encoding", "user-agent"];
/// The content type that Tsung sends for a body without a given type.
const FORM: &str = "application/x-www-form-urlencoded";

impl SessionReader<'_, '_> {
    pub(super) fn http(
        &mut self,
        element: Element<'_>,
        substitution: Substitution,
        label: &str,
    ) -> (Vec<Step>, Answer) {
        let Some(url) = self.findings.required(element, "url") else { return (Vec::new(), Answer::Nothing) };
        let method = element.attribute("method").unwrap_or("GET");
        if method.is_empty() || !method.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
            self.findings.problem(element, Some("method"), format!("`{method}` is no method"), None);
        }
        let Some(target) = self.url(element, url, substitution.head) else {
            return (Vec::new(), Answer::Nothing);
        };
        let why = "statuses from 400 on count as failed; cookies that the server sets are not sent back";
        self.findings.approximated(element, None, format!("{method} {url}"), why);
        let mut http = Http { timeout: self.options.idle_timeout, ..Http::default() };
        http.headers = self.request_headers(element, substitution.head).into_iter().collect();
        http.body = self.body(element, substitution, &mut http.headers.0);
        set_target(&mut http, method, target);
        if self.findings.word(element, "version", &["1.0", "1.1"]) == Some("1.0") {
            let why = "the connection is closed after the response, as with 1.0";
            self.findings.approximated(element, Some("version"), "HTTP/1.1", why);
            http.keep_alive = false;
        }
        let step = Step { label: Some(label.to_owned()), action: Action::Http(http) };
        (vec![step], Answer::Response)
    }

    /// Returns the URL in the scenario's form: a path on the user's target, or another target's URL.
    fn url(&mut self, element: Element<'_>, url: &str, subst: bool) -> Option<String> {
        let Some((scheme, rest)) = url.split_once("://") else {
            let path = self.path(element, "url", url, subst);
            return Some(match &self.origin {
                Some(origin) => format!("{origin}{path}"),
                None => path,
            });
        };
        let (authority, path) = rest.find('/').map_or((rest, "/"), |slash| rest.split_at(slash));
        if subst && authority.contains("%%") {
            return Some(self.template(element, Some("url"), url, subst));
        }
        let is_encrypted = scheme.eq_ignore_ascii_case("https");
        let default_port = if is_encrypted { ":443" } else { ":80" };
        let wanted = |authority: &str| {
            self.servers.iter().any(|server| {
                let own = format!("{}:{}", server.host, server.port);
                server.is_encrypted == is_encrypted && own.eq_ignore_ascii_case(authority)
            })
        };
        if !wanted(authority) && !wanted(&format!("{authority}{default_port}")) {
            let what_to_do =
                format!("{authority} is none of the servers; make what goes there a scenario of its own");
            self.findings.unsupported(element, Some("url"), format!("request to {authority}"), what_to_do);
            return None;
        }
        let path = self.path(element, "url", path, subst);
        if self.servers.len() == 1 {
            return Some(path);
        }
        // Requests that name no server go to the one named last.
        let origin = format!("{}://{authority}", if is_encrypted { "https" } else { "http" });
        self.origin = Some(origin.clone());
        Some(format!("{origin}{path}"))
    }

    fn request_headers(&mut self, element: Element<'_>, subst: bool) -> Vec<(String, String)> {
        let mut headers = self.headers(element, subst, REQUEST_HEADERS);
        if let Some(date) = element.attribute("if_modified_since") {
            let date = self.template(element, Some("if_modified_since"), date, subst);
            headers.push(("If-Modified-Since".to_owned(), date));
        }
        let mut cookies: Vec<String> = Vec::new();
        for child in element.children() {
            match child.name() {
                "add_cookie" => cookies.extend(self.cookie(child, subst)),
                "www_authenticate" => headers.extend(self.credentials(child, subst)),
                "soap" => {
                    let action = child.attribute("action").unwrap_or_default();
                    let action = self.template(child, Some("action"), action, subst);
                    self.findings.supported(child, "header SOAPAction");
                    headers.push(("SOAPAction".to_owned(), format!("\"{action}\"")));
                }
                "oauth" => {
                    let what_to_do = "write the header Authorization yourself";
                    self.findings.unsupported(child, None, "an OAuth 1.0 signature", what_to_do);
                }
                _ => {}
            }
        }
        if !cookies.is_empty() {
            headers.push(("Cookie".to_owned(), cookies.join("; ")));
        }
        headers
    }

    fn cookie(&mut self, element: Element<'_>, subst: bool) -> Option<String> {
        let key = self.findings.required(element, "key");
        let value = self.findings.required(element, "value");
        let value = self.template(element, Some("value"), value?, subst);
        let why = "it is sent with this request only, whatever its domain and path";
        self.findings.approximated(element, None, "header Cookie", why);
        Some(format!("{}={value}", key?))
    }

    /// Reads basic authentication (RFC 7617).
    fn credentials(&mut self, element: Element<'_>, subst: bool) -> Option<(String, String)> {
        let user = self.findings.required(element, "userid");
        let password = self.findings.required(element, "passwd");
        let kind = self.findings.word(element, "type", &["basic", "digest"]).unwrap_or("basic");
        let (user, password) = (user?, password?);
        if kind == "digest" || (subst && (user.contains("%%") || password.contains("%%"))) {
            let what_to_do = "write the header Authorization yourself";
            self.findings.unsupported(element, None, "credentials that each user computes", what_to_do);
            return None;
        }
        self.findings.supported(element, "header Authorization");
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        Some(("Authorization".to_owned(), format!("Basic {credentials}")))
    }

    fn body(
        &mut self,
        element: Element<'_>,
        substitution: Substitution,
        headers: &mut Vec<(String, String)>,
    ) -> Option<String> {
        if let Some(file) = element.attribute("contents_from_file") {
            let what_to_do = "put the file's text into `contents`";
            self.findings.unsupported(
                element,
                Some("contents_from_file"),
                format!("a body from {file}"),
                what_to_do,
            );
        }
        let contents = element.attribute("contents")?;
        let content_type = element.attribute("content_type").unwrap_or(FORM);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type".to_owned(), content_type.to_owned()));
        }
        Some(self.template(element, Some("contents"), contents, substitution.body))
    }
}

fn set_target(http: &mut Http, method: &str, target: String) {
    let field = match method {
        "GET" => &mut http.get,
        "POST" => &mut http.post,
        "PUT" => &mut http.put,
        "PATCH" => &mut http.patch,
        "DELETE" => &mut http.delete,
        "HEAD" => &mut http.head,
        other => {
            http.method = Some(other.to_owned());
            &mut http.url
        }
    };
    *field = Some(target);
}
