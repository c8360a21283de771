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
    /// Request path, appended to the path of the target.
    #[serde(skip_serializing_if = "is_root")]
    pub path: String,
    /// Uses Phoenix Channels on this connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phoenix: Option<PhoenixVersion>,
    /// Phoenix: time between heartbeats; 30s by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Heartbeat>,
    /// Room of the user while it is connected, if the URL determines the room and there is no join.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// With `room`: whether the user receives its own messages.
    #[serde(skip_serializing_if = "is_false")]
    pub echo: bool,
    /// Subprotocols offered, in order of preference.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub subprotocols: Many<String>,
    /// `Origin` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Additional headers.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub headers: Named<String>,
    /// Whether permessage-deflate is offered.
    #[serde(skip_serializing_if = "is_false")]
    pub deflate: bool,
    /// Timeout of the TCP connection and the TLS handshake.
    #[serde(skip_serializing_if = "is_ten_seconds")]
    pub connect_timeout: Time,
    /// Timeout from there to the end of the server's response.
    #[serde(skip_serializing_if = "is_ten_seconds")]
    pub handshake_timeout: Time,
    /// Reconnects when the connection fails: after this pause the user continues here, at another target. Without
    /// it, the session fails.
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
    /// Reason of the close frame, at most 123 bytes.
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
    /// GET this path on the user's target, or this URL of one of the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    /// POST to this URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    /// PUT this URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put: Option<String>,
    /// PATCH this URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// DELETE this URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<String>,
    /// HEAD of this URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Another method, with `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The URL of `method`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers in addition to `Host`, `Content-Length` and `User-Agent`.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub headers: Named<String>,
    /// Body as text. Use this or `json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Body as JSON; adds the content type, unless the headers have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// Timeout for establishing the connection, if a new one is needed; by default the timeout of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<Time>,
    /// Timeout from the start of the request to the last byte of the response.
    #[serde(skip_serializing_if = "is_thirty_seconds")]
    pub timeout: Time,
    /// Statuses that count as success; 200 to 399 by default.
    #[serde(skip_serializing_if = "Many::is_empty")]
    pub expect: Many<u16>,
    /// Whether to keep the connection for the next request.
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
