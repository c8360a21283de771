//! Which connections end when, checked against a model that forgets nothing.

use std::collections::{BTreeMap, BTreeSet};

use identity::{
    CLOSE_TOKEN_EXPIRED, CLOSE_TOKEN_REVOKED, Claims, Community, Ended, Issuer, Refusal, Revocation,
    RevocationsFull, Revoked, Rules, SessionId, Sessions, SessionsLimits, UnixSeconds, Verified,
};
use proptest::prelude::*;
use std::time::Duration;

use crate::signing::NOW;

/// Short lifetimes, so that the histories below outlast what is remembered.
const RULES: Rules = Rules { leeway: Duration::from_secs(5), lifetime_max: Duration::from_secs(50) };

fn verified(community: &str, subject: &str, issued: Option<u64>, ends: u64, token_id: &str) -> Verified {
    Verified {
        community: Community::new(community),
        issuer: Issuer::HostSite,
        claims: Claims {
            subject: subject.to_owned(),
            audiences: vec![community.to_owned()],
            expires: UnixSeconds(ends - RULES.leeway.as_secs()),
            not_before: None,
            issued: issued.map(UnixSeconds),
            token_id: Some(token_id.to_owned()),
            name: None,
            avatar: None,
            roles: Vec::new(),
            rooms: None,
        },
        ends: UnixSeconds(ends),
    }
}

fn revocation(community: &str, subject: &str, what: Revoked) -> Revocation {
    Revocation { community: Community::new(community), subject: subject.to_owned(), what }
}

/// All sessions of a test: the code under test checks whose they are.
fn all() -> impl Iterator<Item = SessionId> {
    (0..10).map(SessionId)
}

fn sessions() -> Sessions {
    Sessions::new(RULES, SessionsLimits::default())
}

fn ended(sessions: &[u64], code: u16) -> Vec<Ended> {
    sessions.iter().map(|id| Ended { session: SessionId(*id), code }).collect()
}

#[test]
fn expired_sessions_end_the_earliest_first_and_not_all_at_once() {
    let mut sessions = sessions();
    for (id, ends) in [(1, 30), (2, 10), (3, 20)] {
        let token = verified("club", "ann", Some(NOW.0), NOW.0 + ends, "t");
        sessions.open(SessionId(id), &token, NOW).expect("it is valid");
    }
    assert_eq!(sessions.next_expiry(), Some(UnixSeconds(NOW.0 + 10)));
    assert_eq!(sessions.expire(UnixSeconds(NOW.0 + 9), 10), []);
    assert_eq!(sessions.expire(UnixSeconds(NOW.0 + 30), 2), ended(&[2, 3], CLOSE_TOKEN_EXPIRED));
    assert_eq!(sessions.expire(UnixSeconds(NOW.0 + 30), 2), ended(&[1], CLOSE_TOKEN_EXPIRED));
    assert!(sessions.is_empty() && sessions.next_expiry().is_none());
}

#[test]
fn a_connection_is_refreshed_by_its_own_person_only() {
    let mut sessions = sessions();
    let token = |community, subject, ends| verified(community, subject, Some(NOW.0), NOW.0 + ends, "t");
    sessions.open(SessionId(1), &token("club", "ann", 10), NOW).expect("it is valid");
    for stranger in [token("club", "bob", 40), token("other", "ann", 40)] {
        assert_eq!(sessions.refresh(SessionId(1), &stranger, NOW), Err(Refusal::AnotherPerson));
    }
    let unknown = sessions.refresh(SessionId(2), &token("club", "ann", 40), NOW);
    assert_eq!(unknown, Err(Refusal::AnotherPerson));
    assert_eq!(sessions.next_expiry(), Some(UnixSeconds(NOW.0 + 10)), "it stands on the old token still");
    sessions.refresh(SessionId(1), &token("club", "ann", 40), NOW).expect("its own person");
    assert_eq!(sessions.next_expiry(), Some(UnixSeconds(NOW.0 + 40)));
    assert_eq!(sessions.len(), 1);
}

#[test]
fn a_revoked_token_ends_its_sessions_and_comes_back_no_more() {
    let mut sessions = sessions();
    let token = |subject, issued, id| verified("club", subject, issued, NOW.0 + 40, id);
    let (lost, kept) = (token("ann", Some(NOW.0), "lost"), token("ann", Some(NOW.0), "kept"));
    for (id, token) in [(1, &lost), (2, &kept), (3, &lost), (4, &token("bob", Some(NOW.0), "lost"))] {
        sessions.open(SessionId(id), token, NOW).expect("it is valid");
    }
    let revoked = sessions
        .revoke(&revocation("club", "ann", Revoked::TokenId("lost".into())), all(), NOW)
        .expect("room");
    assert_eq!(revoked, ended(&[1, 3], CLOSE_TOKEN_REVOKED));
    assert_eq!(sessions.open(SessionId(5), &lost, NOW), Err(Refusal::Revoked));
    assert_eq!(sessions.refresh(SessionId(2), &lost, NOW), Err(Refusal::Revoked));
    let everything = revocation("club", "ann", Revoked::IssuedUntil(NOW));
    assert_eq!(sessions.revoke(&everything, all(), NOW).expect("room"), ended(&[2], CLOSE_TOKEN_REVOKED));
    assert_eq!(sessions.open(SessionId(5), &kept, NOW), Err(Refusal::Revoked));
    let undated = token("ann", None, "undated");
    assert_eq!(
        sessions.open(SessionId(5), &undated, NOW),
        Err(Refusal::Revoked),
        "nobody knows when it was issued"
    );
    let newer = token("ann", Some(NOW.0 + 1), "newer");
    assert_eq!(sessions.open(SessionId(5), &newer, UnixSeconds(NOW.0 + 1)), Ok(()));
    assert_eq!(sessions.len(), 2);
}

#[test]
fn revocations_are_bounded_and_never_undone_to_make_room() {
    let limits = SessionsLimits { revocations_max: 3, revocations_per_community_max: 2 };
    let mut sessions = Sessions::new(RULES, limits);
    let mut revoke = |community: &str, subject: &str, now| {
        sessions.revoke(&revocation(community, subject, Revoked::IssuedUntil(now)), all(), now).map(|_| ())
    };
    assert_eq!(revoke("club", "ann", NOW), Ok(()));
    assert_eq!(revoke("club", "ann", NOW), Ok(()), "it is one");
    assert_eq!(revoke("club", "bob", NOW), Ok(()));
    assert_eq!(revoke("club", "cid", NOW), Err(RevocationsFull::Community));
    assert_eq!(revoke("other", "ann", NOW), Ok(()));
    assert_eq!(revoke("third", "ann", NOW), Err(RevocationsFull::Server));
    let later = UnixSeconds(NOW.0 + 10);
    assert_eq!(revoke("club", "ann", later), Ok(()), "it takes the place of the earlier one");
    assert_eq!(revoke("club", "ann", NOW), Ok(()), "it says nothing more");
    assert_eq!(revoke("club", "cid", later), Err(RevocationsFull::Community));
    assert_eq!(sessions.revocations().count(), 3);
    sessions.expire(UnixSeconds(NOW.0 + 60), 0);
    assert_eq!(sessions.revocations().count(), 3);
    sessions.expire(UnixSeconds(NOW.0 + 61), 0);
    assert_eq!(sessions.revocations().count(), 1);
    sessions.expire(UnixSeconds(NOW.0 + 71), 0);
    assert_eq!(sessions.revocations().count(), 0);
}

#[derive(Clone, Debug)]
enum Operation {
    Open { id: u64, person: usize, issued_ago: u64, lasts: u64, token: u8 },
    Refresh { id: u64, person: usize, issued_ago: u64, lasts: u64, token: u8 },
    Close { id: u64 },
    RevokeToken { person: usize, ago: u64, token: u8 },
    RevokeUntil { person: usize, ago: u64 },
    Pass { seconds: u64, max: usize },
}

const PEOPLE: [(&str, &str); 3] = [("club", "ann"), ("club", "bob"), ("other", "ann")];

fn operation() -> impl Strategy<Value = Operation> {
    let token = || (0..6u64, 0..PEOPLE.len(), 0..6u64, 1..=55u64, 0..3u8);
    prop_oneof![
        4 => token().prop_map(|(id, person, issued_ago, lasts, token)| Operation::Open { id, person, issued_ago, lasts, token }),
        2 => token().prop_map(|(id, person, issued_ago, lasts, token)| Operation::Refresh { id, person, issued_ago, lasts, token }),
        1 => (0..6u64).prop_map(|id| Operation::Close { id }),
        1 => (0..PEOPLE.len(), 0..6u64, 0..3u8).prop_map(|(person, ago, token)| Operation::RevokeToken { person, ago, token }),
        1 => (0..PEOPLE.len(), 0..20u64).prop_map(|(person, ago)| Operation::RevokeUntil { person, ago }),
        3 => (0..30u64, 0..4usize).prop_map(|(seconds, max)| Operation::Pass { seconds, max }),
    ]
}

/// A session and a token in the model: person, time of issue, expiry, token id.
type Held = (usize, u64, u64, String);

#[derive(Default)]
struct Model {
    sessions: BTreeMap<u64, Held>,
    tokens: BTreeSet<(usize, String)>,
    until: Vec<(usize, u64)>,
}

impl Model {
    fn judge(&self, (person, issued, ends, id): &Held, now: u64) -> Result<(), &'static str> {
        if self.is_revoked(*person, *issued, id) {
            Err("revoked")
        } else if *ends <= now {
            Err("expired")
        } else {
            Ok(())
        }
    }

    fn is_revoked(&self, person: usize, issued: u64, id: &str) -> bool {
        self.tokens.contains(&(person, id.to_owned()))
            || self.until.iter().any(|(whose, until)| *whose == person && issued <= *until)
    }

    fn take(&mut self, which: impl Fn(&Self, &Held) -> bool) -> Vec<u64> {
        let taken = self.sessions.iter().filter(|(_, held)| which(self, held));
        let taken: Vec<u64> = taken.map(|(id, _)| *id).collect();
        self.sessions.retain(|id, _| !taken.contains(id));
        taken
    }
}

fn sorted(ended: Vec<Ended>, code: u16) -> Vec<u64> {
    assert!(ended.iter().all(|one| one.code == code));
    let mut ids: Vec<u64> = ended.into_iter().map(|one| one.session.0).collect();
    ids.sort_unstable();
    ids
}

fn coarse(judged: Result<(), Refusal>) -> Result<(), &'static str> {
    judged.map_err(|refusal| match refusal {
        Refusal::Revoked => "revoked",
        Refusal::Expired { .. } => "expired",
        Refusal::AnotherPerson => "another",
        other => panic!("{other}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn sessions_agree_with_a_model_that_forgets_nothing(operations in prop::collection::vec(operation(), 1..80)) {
        let (mut sessions, mut model, mut now) = (sessions(), Model::default(), NOW.0);
        for operation in operations {
            // An id identifies one token, so it includes the token's time of issue.
            let token = |person: usize, issued_ago: u64, lasts: u64, token: u8| {
                let issued = now - issued_ago;
                // As the rules require: the lifetime is bounded, and the leeway is added.
                let held: Held = (person, issued, issued + lasts + 5, format!("{token}-{issued}"));
                let (community, subject) = PEOPLE[person];
                (verified(community, subject, Some(issued), held.2, &held.3), held)
            };
            match operation {
                Operation::Open { id, person, issued_ago, lasts, token: which } => {
                    let (verified, held) = token(person, issued_ago, lasts, which);
                    let expected = model.judge(&held, now);
                    prop_assert_eq!(coarse(sessions.open(SessionId(id), &verified, UnixSeconds(now))), expected);
                    if expected.is_ok() {
                        model.sessions.insert(id, held);
                    }
                }
                Operation::Refresh { id, person, issued_ago, lasts, token: which } => {
                    let (verified, held) = token(person, issued_ago, lasts, which);
                    let same = model.sessions.get(&id).is_some_and(|old| old.0 == person);
                    let expected = if same { model.judge(&held, now) } else { Err("another") };
                    prop_assert_eq!(coarse(sessions.refresh(SessionId(id), &verified, UnixSeconds(now))), expected);
                    if expected.is_ok() {
                        model.sessions.insert(id, held);
                    }
                }
                Operation::Close { id } => {
                    sessions.closed(SessionId(id));
                    model.sessions.remove(&id);
                }
                Operation::RevokeToken { person, ago, token } => {
                    let ((community, subject), id) = (PEOPLE[person], format!("{token}-{}", now - ago));
                    let revocation = revocation(community, subject, Revoked::TokenId(id.clone()));
                    let ended = sessions.revoke(&revocation, all(), UnixSeconds(now)).expect("room");
                    model.tokens.insert((person, id));
                    let expected = model.take(|model, held| model.is_revoked(held.0, held.1, &held.3));
                    prop_assert_eq!(sorted(ended, CLOSE_TOKEN_REVOKED), expected);
                }
                Operation::RevokeUntil { person, ago } => {
                    let (community, subject) = PEOPLE[person];
                    let what = Revoked::IssuedUntil(UnixSeconds(now - ago));
                    let ended = sessions.revoke(&revocation(community, subject, what), all(), UnixSeconds(now)).expect("room");
                    model.until.push((person, now - ago));
                    let expected = model.take(|model, held| model.is_revoked(held.0, held.1, &held.3));
                    prop_assert_eq!(sorted(ended, CLOSE_TOKEN_REVOKED), expected);
                }
                Operation::Pass { seconds, max } => {
                    now += seconds;
                    let mut ended = Vec::new();
                    loop {
                        let some = sessions.expire(UnixSeconds(now), max.max(1));
                        prop_assert!(some.len() <= max.max(1));
                        if some.is_empty() {
                            break;
                        }
                        ended.extend(some);
                    }
                    let expected = model.take(|_, held| held.2 <= now);
                    prop_assert_eq!(sorted(ended, CLOSE_TOKEN_EXPIRED), expected);
                }
            }
            prop_assert_eq!(sessions.len(), model.sessions.len());
            prop_assert_eq!(sessions.next_expiry().map(|at| at.0), model.sessions.values().map(|held| held.2).min());
        }
    }
}
