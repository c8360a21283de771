//! Webhooks over real connections: what a host site is sent, in which order, and what is given up.

#[path = "../house/mod.rs"]
mod house;

mod erasures;
mod restarts;
mod sending;
mod site;
mod telling;
mod twins;
mod unreadable_keys;

use std::time::Duration;

const GENEROUS: Duration = Duration::from_secs(60);

const MESSAGES: &str = "/api/v1/communities/acme/conversations/room:lobby/messages";

/// Looks again and again until there is something to see.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let seen = async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(GENEROUS, seen).await.expect(what)
}
