//! Long-polling: Phoenix's fallback transport over plain HTTP requests. Reference section 5.
//!
//! The HTTP side is here; a session's state is in its shard. A polling client mostly waits, so waiting is handled by a
//! reader of our own that holds no buffer meanwhile. Requests that it does not handle (chunked bodies, HTTP/1.0, other
//! paths), and everything after them on their connection, go to the HTTP library, and are answered by the same
//! [`respond()`].

mod answer;
mod body;
mod connection;
mod cors;
mod received;
mod request;
mod respond;
mod response;
mod session;
mod sized_body;

pub(crate) use answer::goes_on;
pub(crate) use body::BODIES_KIB_MAX;
pub(crate) use connection::serve;
pub(crate) use respond::{Place, TOKEN_HEADER, respond};
pub(crate) use session::{own_session, poll, post};
