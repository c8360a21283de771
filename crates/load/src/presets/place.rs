//! Splits a URL into the parts that a scenario keeps separate: the target and the path.

use super::PresetError;

const WEB_SOCKET: &str = "a WebSocket URL such as ws://127.0.0.1:4000/socket/websocket";
const HTTP: &str = "an HTTP URL such as http://127.0.0.1:8080/page";

/// The destination of a connection or a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// `scheme://host:port`.
    pub target: String,
    /// From the first slash on, including the query; `/` if there is none.
    pub path: String,
}

impl Place {
    /// Splits a `ws` or `wss` URL.
    ///
    /// # Errors
    /// [`PresetError::Url`].
    pub fn web_socket(url: &str) -> Result<Self, PresetError> {
        Self::parse(url, &["ws://", "wss://"]).ok_or_else(|| PresetError::Url(url.to_owned(), WEB_SOCKET))
    }

    /// Splits an `http` or `https` URL.
    ///
    /// # Errors
    /// [`PresetError::Url`].
    pub fn http(url: &str) -> Result<Self, PresetError> {
        Self::parse(url, &["http://", "https://"]).ok_or_else(|| PresetError::Url(url.to_owned(), HTTP))
    }

    /// Returns whether the path is that of a Phoenix socket, which ends in `/websocket`.
    #[must_use]
    pub fn is_phoenix(&self) -> bool {
        self.path.split('?').next().is_some_and(|path| path.ends_with("/websocket"))
    }

    fn parse(url: &str, schemes: &[&str]) -> Option<Self> {
        let scheme = schemes.iter().find(|scheme| url.starts_with(**scheme))?;
        let rest = &url[scheme.len()..];
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() || url.contains(['#', ' ']) {
            return None;
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Some(Self { target: format!("{scheme}{authority}"), path })
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_url_is_target_and_path() {
        let table = [
            ("ws://h:1", "ws://h:1", "/"),
            ("wss://h/a/b?c=d", "wss://h", "/a/b?c=d"),
            ("ws://[::1]:4000?x=y", "ws://[::1]:4000", "/?x=y"),
        ];
        for (url, target, path) in table {
            let place = Place::web_socket(url).expect("a URL");
            assert_eq!((place.target.as_str(), place.path.as_str()), (target, path));
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in ["", "http://h", "ws:/h", "ws:///path", "ws://h/#f", "h:1"] {
            assert!(Place::web_socket(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_phoenix_socket_is_known_by_its_path() {
        let is_phoenix = |url| Place::web_socket(url).expect("a URL").is_phoenix();
        assert!(is_phoenix("ws://h/socket/websocket"));
        assert!(is_phoenix("ws://h/socket/websocket?token=a"));
        assert!(!is_phoenix("ws://h/websocket/room"));
    }
}
