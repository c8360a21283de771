//! A bug that can be planted, to prove that the simulation would find it. `planted.rs` in `hub` documents the rules.

/// A bug that group commit invites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "planted-bugs"), expect(unreachable_pub, reason = "exported with the feature only"))]
pub enum PlantedBug {
    /// Messages are acknowledged and announced once their rules have run, before the outcome of the commit is known.
    AnswersBeforeCommit,
}

#[cfg(feature = "planted-bugs")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<PlantedBug>> = const { std::cell::Cell::new(None) };
}

/// Plants the bug in groups that run on this thread, or removes it with `None`.
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
