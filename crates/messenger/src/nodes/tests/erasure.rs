//! Who is erased on one node is erased on all.

use super::{Node, begin};
use crate::scene::{id, run, somebody};
use crate::witness::{Happening, Witness};
use chat::verbs::{Erase, Punish};
use chat::{By, CommunityId, KeyId, PersonId, SanctionKind};
use std::sync::{Arc, Mutex, PoisonError};

/// Notes who is no more.
#[derive(Clone, Default)]
struct Mourner(Arc<Mutex<Vec<PersonId>>>);

impl Witness for Mourner {
    fn witness(&self, _: &CommunityId, _: &PersonId, _: &Happening<'_>) {}

    fn keys_changed(&self, _: &CommunityId, _: Option<KeyId>) {}

    fn erased(&self, _: &CommunityId, person: &PersonId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(person.clone());
    }
}

impl Mourner {
    fn of(node: &Node) -> Self {
        let mourner = Self::default();
        node.messenger.witness_by(mourner.clone());
        mourner
    }

    fn noted(&self) -> Vec<PersonId> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[test]
fn who_is_erased_on_one_node_is_forgotten_on_the_other_and_who_is_banned_is_not() {
    run(async {
        let (here, there, _) = begin().await;
        let (mine, theirs) = (Mourner::of(&here), Mourner::of(&there));
        let (person, reason) = (somebody("bob"), String::new());
        let ban = Punish { person, conversation: None, kind: SanctionKind::Ban, until: None, reason };
        here.messenger.ask(&id("one"), By::Service, ban).await.expect("banned");
        there.hear(&here);
        assert_eq!((mine.noted(), theirs.noted()), (vec![], vec![]));
        let erase = Erase { person: somebody("ann") };
        while !here.messenger.ask(&id("one"), By::Service, erase.clone()).await.expect("erased").done {}
        there.hear(&here);
        assert_eq!((mine.noted(), theirs.noted()), (vec![somebody("ann")], vec![somebody("ann")]));
        assert_eq!(there.words().len(), 0, "what was heard is not said again");
    });
}
