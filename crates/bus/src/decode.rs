//! Converts messages on a topic's channel to the hub's events.

use crate::frame::{Frame, Kept};
use crate::session::SessionContext;
use hub::{BusEvent, Ordered, Position, Publication};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Converts another node's message about a topic. Returns `None` for ordered publications, which are for [`ordered`],
/// and for messages that do not belong to a topic.
pub(crate) fn said(context: &SessionContext, topic: Arc<str>, frame: Frame) -> Option<BusEvent> {
    Some(match frame {
        Frame::Published { node, event, payload } => {
            context.numbers.delivered.fetch_add(1, Relaxed);
            let publication =
                Arc::new(Publication { topic, event, payload, received: context.now(), place: None });
            BusEvent::Delivered { node, publication }
        }
        Frame::Lost { node, age_ms } => BusEvent::Lost { topic, node, age_us: age_ms.saturating_mul(1000) },
        Frame::Head { position, .. } => BusEvent::Head { topic, position },
        Frame::Present { node, version, previous, change } => {
            BusEvent::Present { topic, node, version, previous, change: Box::new(change) }
        }
        Frame::PresenceHead { node, version } => BusEvent::PresenceHead { topic, node, version },
        Frame::Ordered { .. } | Frame::Dismissed { .. } | Frame::Told { .. } => return None,
    })
}

/// Converts a publication that an engine stored, possibly this node's own.
pub(crate) fn ordered(
    context: &SessionContext,
    topic: Arc<str>,
    (position, previous): (Position, u64),
    kept: Kept,
) -> Ordered {
    if kept.node != context.node {
        context.numbers.delivered.fetch_add(1, Relaxed);
    }
    Ordered { position, previous, draft: kept.into_draft(topic, context.now()) }
}
