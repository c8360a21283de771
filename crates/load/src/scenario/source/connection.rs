//! Steps that open and close connections, and HTTP requests, in their written form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::drawn::Pause;
use super::named::{Many, Named};
use super::scalar::{Heartbeat, Time};
use super::{is_false, is_true};

/// Opens the user's WebSocket.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Connect {
    /// Request target; the target's own path goes before it.
    #[serde(skip_serializing_if = "is_root")]
    pub path: String,
    /// Speaks Phoenix Channels on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phoenix: Option<PhoenixVersion>,
    /// Phoenix: time between heartbeats, 30s if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Heartbeat>,
    /// The room that the user is in while it is connected, where the URL says so and there is no join.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// With `room`: whether the user gets its own messages back.
    #[serde(skip_serializing_if = "is_false")]
    pub echo: bool,
    /// Subprotocols offered, in order of preference.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub subprotocols: Many<String>,
    /// `Origin` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Further header lines.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub headers: Named<String>,
    /// Whether permessage-deflate is offered.
    #[serde(skip_serializing_if = "is_false")]
    pub deflate: bool,
    /// For the TCP connection and the TLS handshake.
    #[serde(skip_serializing_if = "is_ten_seconds")]
    pub connect_timeout: Time,
    /// From there to the end of the server's response.
    #[serde(skip_serializing_if = "is_ten_seconds")]
    pub handshake_timeout: Time,
    /// The user comes back when its connection fails: after such a pause it goes on from here, at another target. Without,
    /// its session has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconnect: Option<Pause>,
}

impl Default for Connect {
    fn default() -> Self {
        Self {
            path: "/".to_owned(),
            phoenix: None,
            heartbeat: None,
            room: None,
            echo: false,
            subprotocols: Many::default(),
            origin: None,
            headers: Named::default(),
            deflate: false,
            connect_timeout: Time::seconds(10),
            handshake_timeout: Time::seconds(10),
            reconnect: None,
        }
    }
}

/// Serializer of Phoenix Channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhoenixVersion {
    /// Objects (`vsn=1.0.0`).
    V1,
    /// Arrays (`vsn=2.0.0`).
    V2,
}

/// Closes the WebSocket with the closing handshake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Close {
    /// Status code of the close frame.
    pub code: u16,
    /// Its reason, at most 123 bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Default for Close {
    fn default() -> Self {
        Self { code: 1000, reason: String::new() }
    }
}

/// One HTTP/1.1 request and its response: exactly one of the methods with its URL, or `method` and `url`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// GET this path at the user's target, or this URL of one of the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    /// POST to this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    /// PUT this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put: Option<String>,
    /// PATCH this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// DELETE this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<String>,
    /// HEAD of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Another method, with `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// With `method`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Header lines besides `Host`, `Content-Length` and `User-Agent`.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub headers: Named<String>,
    /// Body as text. This or `json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Body as JSON; its content type is sent unless there is one among the headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// For the connection to be established, where the request needs a new one; the request's own if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<Time>,
    /// From the request's begin to the response's last byte.
    #[serde(skip_serializing_if = "is_thirty_seconds")]
    pub timeout: Time,
    /// Statuses that count as success; 200 to 399 if left out.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub expect: Many<u16>,
    /// Whether the connection is kept for the next request.
    #[serde(skip_serializing_if = "is_true")]
    pub keep_alive: bool,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            get: None,
            post: None,
            put: None,
            patch: None,
            delete: None,
            head: None,
            method: None,
            url: None,
            headers: Named::default(),
            body: None,
            json: None,
            connect_timeout: None,
            timeout: Time::seconds(30),
            expect: Many::default(),
            keep_alive: true,
        }
    }
}

fn is_root(path: &str) -> bool {
    path == "/"
}

pub(super) fn is_ten_seconds(time: &Time) -> bool {
    *time == Time::seconds(10)
}

fn is_thirty_seconds(time: &Time) -> bool {
    *time == Time::seconds(30)
}
