//! What the answer of each verb means for whom, and what it makes stale: all of it in this folder.
//!
//! [`Messenger::perform`](crate::Messenger::perform) takes only verbs that have [`News`], so that no surface can change
//! something and forget to tell. News are told when the answer is durable and before whoever asked has it, on the
//! store's thread: in the order of the commits, also when whoever asked is gone. What is told says nothing that its
//! receivers may not know: a conversation's messages go to those who are in it, and to who may read a room and has it
//! open.

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

use crate::bulletin::Bulletin;
use chat::{Asked, Command, Verb};

/// A verb with what its answer means for others.
pub trait News: Verb {
    /// What is kept of the question until its answer is durable.
    type Kept: Send + 'static;

    /// Keeps it.
    fn keep(&self) -> Self::Kept;

    /// Tells those whom it concerns, and forgets what is stale now. Neither may it block nor panic.
    fn tell(kept: Self::Kept, answer: &Self::Answer, bulletin: &mut Bulletin<'_>);

    /// The store failed so that nobody knows whether it was done: it may be there, and its sender's retry is then no news.
    fn doubt(_: Self::Kept, _: &mut Bulletin<'_>) {}
}

/// A command whose news need nothing but itself and its call.
trait Told: Command + Clone {
    fn told(asked: Asked<Self>, answer: &Self::Answer, bulletin: &mut Bulletin<'_>);

    /// See [`News::doubt`].
    fn doubted(_: Asked<Self>, _: &mut Bulletin<'_>) {}
}

/// Gives commands their news: `news! { Join }` for a [`Told`] one.
macro_rules! news {
    ($($command:ty)*) => {
        $(impl crate::news::News for chat::Asked<$command> {
            type Kept = Self;

            fn keep(&self) -> Self {
                self.clone()
            }

            fn tell(kept: Self, answer: &Self::Answer, bulletin: &mut crate::bulletin::Bulletin<'_>) {
                <$command as crate::news::Told>::told(kept, answer, bulletin);
            }

            fn doubt(kept: Self, bulletin: &mut crate::bulletin::Bulletin<'_>) {
                <$command as crate::news::Told>::doubted(kept, bulletin);
            }
        })*
    };
}
use news;
