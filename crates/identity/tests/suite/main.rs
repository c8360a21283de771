//! Tokens, sessions and what is asked of a host site.

mod authorize;
mod corpus;
mod documentation;
mod guests;
mod jwks;
mod outbound;
mod server_keys;
mod sessions;
mod signing;
mod site;
mod tokens;
mod webhooks;
