//! The values of a WebSocket handshake, as plain text in and out: what both a server and a client need to check or to
//! create them. HTTP itself, its types and its order of checks belong to whoever owns the connection.

mod key;
mod origin;
mod protocols;
mod query;

pub use key::{accept_key, client_key, is_websocket_key};
pub use origin::{BadOriginPattern, OriginPattern, OriginRule, RequestAddress};
pub use protocols::{
    BadAuthToken, NoCommonProtocol, OfferedProtocols, auth_token_and_protocols, choose_protocol,
};
pub use query::{BadQuery, QUERY_DEPTH_MAX, QUERY_PAIRS_MAX, decode_path_segment, parse_query};
