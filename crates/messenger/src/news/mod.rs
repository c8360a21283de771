//! What the answer of each verb means for whom, and what it makes stale: all of it is in this folder.
//!
//! [`Messenger::perform`](crate::Messenger::perform) accepts only verbs that have [`News`], so that no surface can
//! change something without notifying. News is sent when the answer is durable, before the requester gets it, on the
//! store's thread: in commit order, even if the requester is gone. It contains nothing that its receivers may not know:
//! a conversation's messages go to the people in it, and to those who may read a room and have it open.

mod changing;
mod communities;
mod direct;
mod following;
mod joining;
mod moderating;
mod people;
mod quiet;
mod roles;
mod rooms;
mod sending;

pub(crate) use changing::{ChangedAt, counts, reacted};
pub(crate) use people::person_erased;

use crate::notice_batch::NoticeBatch;
use chat::{Asked, Command, Verb};

/// A verb, with what its answer means for others.
pub trait News: Verb {
    /// What is kept of the request until its answer is durable.
    type Kept: Send + 'static;

    /// Returns what to keep.
    fn keep(&self) -> Self::Kept;

    /// Notifies those whom it concerns, and drops what is stale now. Must neither block nor panic.
    fn tell(kept: Self::Kept, answer: &Self::Answer, notices: &mut NoticeBatch<'_>);

    /// The store failed with an unknown outcome: it may be stored, and a retry by the sender would then not be news.
    fn doubt(_: Self::Kept, _: &mut NoticeBatch<'_>) {}
}

/// A command whose news needs only the command and its call.
trait Told: Command + Clone {
    fn told(asked: Asked<Self>, answer: &Self::Answer, notices: &mut NoticeBatch<'_>);

    /// See [`News::doubt`].
    fn doubted(_: Asked<Self>, _: &mut NoticeBatch<'_>) {}
}

/// Implements [`News`] for [`Told`] commands: `news! { Join }`.
macro_rules! news {
    ($($command:ty)*) => {
        $(impl crate::news::News for chat::Asked<$command> {
            type Kept = Self;

            fn keep(&self) -> Self {
                self.clone()
            }

            fn tell(kept: Self, answer: &Self::Answer, notices: &mut crate::notice_batch::NoticeBatch<'_>) {
                <$command as crate::news::Told>::told(kept, answer, notices);
            }

            fn doubt(kept: Self, notices: &mut crate::notice_batch::NoticeBatch<'_>) {
                <$command as crate::news::Told>::doubted(kept, notices);
            }
        })*
    };
}
use news;
