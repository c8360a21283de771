//! Bugs that can be planted, to prove that the simulation would find them.
//!
//! The feature `planted-bugs` lets a test plant one for its thread; without the feature nothing can be planted and the
//! compiler removes the checks. Planting must never be reachable from configuration.

/// A bug that this design invites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "planted-bugs"), expect(unreachable_pub, reason = "exported with the feature only"))]
pub enum PlantedBug {
    /// A removal before the cursor fills the hole with the last member, which the pass then never serves.
    CursorSkipsAfterRemoval,
    /// A member that joins while a publication is being delivered gets it as well.
    JoinSeesEarlierPublication,
    /// A follower of a recoverable topic takes any publication for the next one.
    GapGoesUnseen,
    /// A publisher's node does not check whether what was acknowledged came back.
    OwnTailGoesUnseen,
    /// The people of a node stay when its lease has expired.
    LeaseNeverExpires,
    /// A recovery begins with the last message that the client already got.
    RecoveryDeliversTwice,
    /// A queued join whose connection has ended also removes the join behind it from the queue.
    GoneTakeNextTurn,
}

#[cfg(feature = "planted-bugs")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<PlantedBug>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug in the hubs that run on this thread, or, with `None`, takes it out.
#[cfg(feature = "planted-bugs")]
pub fn plant(bug: Option<PlantedBug>) {
    PLANTED.set(bug);
}

impl PlantedBug {
    #[cfg(feature = "planted-bugs")]
    pub(crate) fn is_planted(self) -> bool {
        PLANTED.get() == Some(self)
    }

    #[cfg(not(feature = "planted-bugs"))]
    pub(crate) const fn is_planted(self) -> bool {
        false
    }
}
