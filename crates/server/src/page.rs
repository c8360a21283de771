//! The page of rooms, embedded at build time. Defines its addresses, content types, caching and security headers.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse;
use chat::{CommunityId, RoomName};

/// A file of the built page.
struct Asset {
    /// The URL path.
    path: &'static str,
    /// Its entity tag, quoted.
    etag: &'static str,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// No external resources, no inline scripts, no framing.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The room that every server has; `/` redirects to it.
const LOBBY: &str = "/c/default/r/lobby";

/// Vite puts a content hash into the names of the files below this folder.
const HASHED_FOLDER: &str = "/assets/";

const PAGE_MISSING: &str = "<!doctype html><html lang=\"en\"><meta \
     charset=\"utf-8\"><title>Throng</title><h1>Throng is running</h1><p>This binary was built without its web \
     page. To build both, run <code>make run</code>, or run <code>npm ci &amp;&amp; npm run build</code> in \
     <code>web/</code> and build the server again. Channels work without it.</p></html>\n";

/// Serves the page's files, and 404 for everything else.
pub(crate) fn router() -> Router {
    Router::new().fallback(|request: Request| async move { respond(ASSETS, &request) })
}

/// Returns whether the page was built before this binary.
pub(crate) fn is_embedded() -> bool {
    !ASSETS.is_empty()
}

fn respond(assets: &[Asset], request: &Request) -> Response<Body> {
    let path = match request.uri().path() {
        // The page is the same for all rooms, existing or not: only channels reveal which rooms exist, to those who may
        // know.
        path if is_room(path) => "/index.html",
        path => path,
    };
    let mut response = match assets.iter().find(|asset| asset.path == path) {
        Some(_) if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            StatusCode::METHOD_NOT_ALLOWED.into_response()
        }
        Some(asset) => asset.response(request.headers()),
        None if path == "/index.html" && assets.is_empty() => (
            StatusCode::OK,
            [(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-store")],
            PAGE_MISSING,
        )
            .into_response(),
        None if path == "/" => {
            (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, LOBBY), (CACHE_CONTROL, "no-cache")]).into_response()
        }
        None => (StatusCode::NOT_FOUND, "not found\n").into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Returns whether a path is the address of a room, `/c/COMMUNITY/r/ROOM`, existing or not.
fn is_room(path: &str) -> bool {
    let names = path.strip_prefix("/c/").and_then(|rest| rest.split_once("/r/"));
    names.is_some_and(|(community, room)| {
        let room = room.strip_suffix('/').unwrap_or(room);
        CommunityId::parse(community).is_ok() && RoomName::parse(room).is_ok()
    })
}

impl Asset {
    /// RFC 9110 section 13.1.2: `If-None-Match` uses weak comparison; the answer is 304 with the same validators.
    fn response(&self, headers: &HeaderMap) -> Response<Body> {
        let cached = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).is_some_and(|tags| {
            tags.split(',')
                .map(|tag| tag.trim().trim_start_matches("W/"))
                .any(|tag| tag == self.etag || tag == "*")
        });
        let validators = [(ETAG, self.etag), (CACHE_CONTROL, self.cache_control())];
        if cached {
            return (StatusCode::NOT_MODIFIED, validators).into_response();
        }
        (validators, [(CONTENT_TYPE, self.content_type())], self.bytes).into_response()
    }

    fn cache_control(&self) -> &'static str {
        if self.path.starts_with(HASHED_FOLDER) { "public, max-age=31536000, immutable" } else { "no-cache" }
    }

    fn content_type(&self) -> &'static str {
        match self.path.rsplit_once('.').map(|(_, extension)| extension) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("json" | "map") => "application/json",
            Some("webmanifest") => "application/manifest+json",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("ico") => "image/x-icon",
            Some("woff2") => "font/woff2",
            Some("txt") => "text/plain; charset=utf-8",
            Some(_) | None => "application/octet-stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT: &[Asset] = &[
        Asset { path: "/index.html", etag: "\"a1\"", bytes: b"<p>hi" },
        Asset { path: "/assets/main-Cx4f.js", etag: "\"b2\"", bytes: b"hi()" },
    ];

    fn get(assets: &[Asset], path: &str, tags: Option<&str>) -> Response<Body> {
        let mut request = Request::builder().uri(path);
        if let Some(tags) = tags {
            request = request.header(IF_NONE_MATCH, tags);
        }
        respond(assets, &request.body(Body::empty()).expect("a request"))
    }

    fn header<'a>(response: &'a Response<Body>, name: &str) -> &'a str {
        response.headers().get(name).map_or("", |value| value.to_str().expect("text"))
    }

    #[test]
    fn the_page_is_checked_again_and_hashed_files_are_kept() {
        let page = get(BUILT, "/c/default/r/lobby", None);
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
        assert_eq!(header(&page, "cache-control"), "no-cache");
        assert!(header(&page, "content-security-policy").contains("default-src 'none'"));

        let script = get(BUILT, "/assets/main-Cx4f.js", None);
        assert_eq!(header(&script, "content-type"), "text/javascript; charset=utf-8");
        assert_eq!(header(&script, "cache-control"), "public, max-age=31536000, immutable");
    }

    #[test]
    fn a_cached_file_is_not_sent_again() {
        for tags in ["\"a1\"", "W/\"a1\"", "\"x\", \"a1\"", "*"] {
            let response = get(BUILT, "/index.html", Some(tags));
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{tags}");
            assert_eq!(header(&response, "etag"), "\"a1\"");
        }
        assert_eq!(get(BUILT, "/index.html", Some("\"b2\"")).status(), StatusCode::OK);
    }

    #[test]
    fn a_binary_without_a_page_says_how_to_build_it() {
        let response = get(&[], "/c/default/r/lobby", None);
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "cache-control"), "no-store");
    }

    #[test]
    fn the_root_leads_to_the_lobby() {
        for assets in [BUILT, &[]] {
            let response = get(assets, "/", None);
            assert_eq!(response.status(), StatusCode::TEMPORARY_REDIRECT);
            assert_eq!(header(&response, "location"), LOBBY);
        }
    }

    #[test]
    fn a_rooms_address_has_two_names() {
        for path in [LOBBY, "/c/club/r/board-1/"] {
            assert!(is_room(path), "{path}");
        }
        for path in
            ["/c/club", "/c/Club/r/board", "/c/club/r/", "/c//r/board", "/c/club/r/a/b", "/c/club/r/a//"]
        {
            assert!(!is_room(path), "{path}");
        }
    }

    #[test]
    fn what_is_not_part_of_the_page_is_not_found() {
        for path in ["/nothing", "/assets/", "/../Cargo.toml"] {
            assert_eq!(get(BUILT, path, None).status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
