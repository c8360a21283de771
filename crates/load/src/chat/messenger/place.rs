//! The address of a stored room: the page's URL, or a socket and a topic.

use crate::chat::address::{Address, BadAddress};

/// Path of the socket that the page itself uses.
const SOCKET_PATH: &str = "/socket/websocket";
const TOPIC: &str = "room:";
const TOKEN: &str = "token=";
const COMMUNITY_CHARS_MAX: usize = 40;
const ROOM_CHARS_MAX: usize = 64;

/// A room of the messenger on a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::chat) struct Place {
    pub(super) address: Address,
    pub(super) community: String,
    pub(super) room: String,
}

impl Place {
    /// Parses a URL and a topic; `None` if they identify another kind of room. The token is taken from the URL's
    /// fragment, where host sites put it for the page.
    ///
    /// # Errors
    /// They identify a stored room, but its name is invalid.
    pub(in crate::chat) fn parse(
        url: &str,
        topic: Option<&str>,
    ) -> Option<Result<(Self, Option<String>), BadAddress>> {
        let (whole, fragment) = url.split_once('#').unwrap_or((url, ""));
        let bare = whole.split_once('?').map_or(whole, |(bare, _)| bare);
        let (socket, community, room) = match topic.and_then(|topic| topic.strip_prefix(TOPIC)) {
            Some(named) => {
                let (community, room) = named.split_once('/')?;
                (socket_scheme(whole), community, room)
            }
            None if topic.is_some() => return None,
            None => {
                let (mount, named) = bare.trim_end_matches('/').rsplit_once("/c/")?;
                let (community, room) = named.split_once("/r/")?;
                (socket_scheme(&format!("{mount}{SOCKET_PATH}")), community, room)
            }
        };
        let token = fragment.split('&').find_map(|pair| pair.strip_prefix(TOKEN)).map(str::to_owned);
        Some(Self::of(url, &socket, community, room).map(|place| (place, token)))
    }

    fn of(url: &str, socket: &str, community: &str, room: &str) -> Result<Self, BadAddress> {
        let is_word = |text: &str, max: usize| {
            let is_of_word = |letter: u8| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"_-".contains(&letter)
            };
            (1..=max).contains(&text.len()) && text.bytes().all(is_of_word)
        };
        let shown = url.split_once('#').map_or(url, |(shown, _)| shown);
        if !is_word(community, COMMUNITY_CHARS_MAX) {
            return Err(BadAddress::new(
                shown,
                "the community's name is invalid (allowed: 1 to 40 of a-z, 0-9, _ and -)",
            ));
        }
        if !is_word(room, ROOM_CHARS_MAX) {
            return Err(BadAddress::new(
                shown,
                "the room's name is invalid (allowed: 1 to 64 of a-z, 0-9, _ and -)",
            ));
        }
        let topic = format!("{TOPIC}{community}/{room}");
        let address = Address::parse(socket, Some(&topic))?;
        Ok(Self { address, community: community.to_owned(), room: room.to_owned() })
    }

    pub(super) fn room_topic(&self, room: &str) -> String {
        format!("{TOPIC}{}/{room}", self.community)
    }

    pub(super) fn person_topic(&self, person: &str) -> String {
        format!("person:{}/{person}", self.community)
    }

    /// Returns path and query of the handshake, for a user with a token or for a guest with a name.
    pub(super) fn target(&self, token: Option<&str>, name: Option<&str>) -> String {
        let mut target = self.address.target.clone();
        for (key, value) in [("community", Some(self.community.as_str())), ("token", token), ("name", name)] {
            if let Some(value) = value {
                target += &format!("&{key}={}", percent_encoded(value));
            }
        }
        target
    }
}

/// Converts the scheme of the page's URL to the scheme of its socket.
fn socket_scheme(url: &str) -> String {
    match url.split_once("://") {
        Some(("http", rest)) => format!("ws://{rest}"),
        Some(("https", rest)) => format!("wss://{rest}"),
        Some(_) | None => url.to_owned(),
    }
}

/// Percent-encodes all but the unreserved characters (RFC 3986 section 2.1).
fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte))
            }
            other => encoded += &format!("%{other:02X}"),
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str, topic: Option<&str>) -> (String, String, String, Option<String>) {
        let (place, token) = Place::parse(url, topic).expect("a stored room").expect(url);
        let Address { secure, authority, target, .. } = &place.address;
        let scheme = if *secure { "wss" } else { "ws" };
        (format!("{scheme}://{authority}{target}"), place.community, place.room, token)
    }

    #[test]
    fn the_url_of_a_page_and_a_topic_name_a_stored_room() {
        let socket = "ws://h:4000/socket/websocket?vsn=2.0.0";
        for (url, topic, reached, token) in [
            ("http://h:4000/c/default/r/lobby", None, socket, None),
            ("ws://h:4000/c/default/r/lobby/", None, socket, None),
            ("ws://h:4000/c/default/r/lobby#token=a.b.c", None, socket, Some("a.b.c")),
            ("https://h/chat/c/default/r/lobby?x=1", None, "wss://h/chat/socket/websocket?vsn=2.0.0", None),
            ("ws://h:4000/socket/websocket", Some("room:default/lobby"), socket, None),
        ] {
            let expected = (reached.into(), "default".into(), "lobby".into(), token.map(str::to_owned));
            assert_eq!(parsed(url, topic), expected, "{url}");
        }
    }

    #[test]
    fn other_rooms_are_left_to_who_knows_them() {
        for (url, topic) in [
            ("ws://h/red", None),
            ("ws://h/socket/websocket", None),
            ("ws://h/socket/websocket", Some("rooms:lobby")),
            ("ws://h/c/default/r/lobby", Some("rooms:lobby")),
        ] {
            assert_eq!(Place::parse(url, topic), None, "{url}");
        }
    }

    #[test]
    fn a_name_that_no_room_can_have_is_refused_without_the_token() {
        for url in
            ["ws://h/c/Default/r/lobby#token=secret", "ws://h/c/default/r/a/b#token=secret", "ws://h/c//r/a"]
        {
            let error = Place::parse(url, None).expect("a stored room").expect_err(url).to_string();
            assert!(error.contains("name is invalid") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn what_a_socket_is_told_cannot_end_its_parameter() {
        let (place, _) = Place::parse("ws://h/c/a/r/b", None).expect("a stored room").expect("a room");
        assert_eq!(
            place.target(None, Some("Ann & Bob?é")),
            "/socket/websocket?vsn=2.0.0&community=a&name=Ann%20%26%20Bob%3F%C3%A9"
        );
    }
}
