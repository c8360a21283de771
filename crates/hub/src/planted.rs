//! Bugs that can be planted, to prove that the simulation would find them.
//!
//! The feature `planted-bugs` lets a test plant one for its thread; without the feature nothing is ever planted and
//! the compiler removes the questions. Planting must never be reachable from configuration.

/// A bug that this design invites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "planted-bugs"), expect(unreachable_pub, reason = "exported with the feature only"))]
pub enum PlantedBug {
    /// A removal behind the cursor fills the hole with the last member, whom the pass then never serves.
    CursorSkipsAfterRemoval,
    /// Who joins while a publication is on its way is given it as well.
    JoinSeesEarlierPublication,
    /// Who follows a recoverable topic takes whatever comes for what is next.
    GapGoesUnseen,
    /// Who published does not look whether what was acknowledged came back.
    OwnTailGoesUnseen,
    /// The people of a node stay when its lease is over.
    LeaseNeverExpires,
    /// A recovery begins with the message that the client was given last.
    RecoveryDeliversTwice,
    /// Who is gone while they stand in the line of joins takes who stands behind them out of it as well.
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
