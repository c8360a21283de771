//! Handles messages on the channel of all nodes, which does not depend on subscriptions.

use crate::frame::{self, Frame};
use crate::session::SessionContext;
use hub::BusEvent;
use std::sync::atomic::Ordering::Relaxed;

/// Handles another node's message to all nodes.
pub(crate) fn hear(context: &SessionContext, bytes: &[u8]) {
    match frame::read(bytes) {
        Some(Frame::Dismissed { dismissal, .. }) => context.tell(BusEvent::Dismissed(dismissal)),
        Some(Frame::Told { node, words }) => context.tell(BusEvent::Told { node, words }),
        Some(
            Frame::Published { .. }
            | Frame::Lost { .. }
            | Frame::Ordered { .. }
            | Frame::Head { .. }
            | Frame::Present { .. }
            | Frame::PresenceHead { .. },
        )
        | None => {
            context.numbers.undecodable.fetch_add(1, Relaxed);
        }
    }
}
