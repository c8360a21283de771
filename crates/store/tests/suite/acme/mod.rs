//! A test community, and calls in it.

use chat::verbs::CreateCommunity;
use chat::{Ask as _, By, Call, CommunityId, Entropy, Moment, Settings, Store};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A call in the community, later than all earlier ones and with entropy of its own.
pub(crate) fn call(by: By) -> Call {
    static DRAWN: AtomicU64 = AtomicU64::new(1);
    let nth = DRAWN.fetch_add(1, Relaxed);
    Call {
        community: CommunityId::parse("acme").expect("it is a name"),
        by,
        now: Moment::from_millis(1_700_000_000_000 + nth),
        entropy: Entropy((u128::from(nth) << 8).to_be_bytes()),
    }
}

/// Creates the community.
pub(crate) fn create(store: &dyn Store) {
    let create = CreateCommunity { settings: Settings::named("Acme") };
    store.ask(call(By::Service).ask(create)).expect("it is new");
}
