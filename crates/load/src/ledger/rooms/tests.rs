use std::collections::HashSet;

use super::*;
use crate::ledger::{RECENT_SENDERS, WITHDRAWN_MAX};

const SECOND: Nanos = 1_000_000_000;

fn stamp(room: u32, index: u32, sender: UserId) -> Stamp {
    Stamp { room, index, sender, ..Stamp::default() }
}

#[test]
fn a_name_has_one_number_and_a_number_its_name() {
    let rooms = Rooms::new(SECOND);
    let numbers: Vec<_> = ["a", "b", "a", ""].into_iter().map(|name| rooms.intern(name)).collect();
    assert_eq!(numbers, [Ok(0), Ok(1), Ok(0), Ok(2)]);
    assert_eq!(rooms.count(), 3);
    assert_eq!(rooms.name(1).as_deref(), Some("b"));
    assert_eq!(rooms.name(3), None);
}

#[test]
fn a_member_should_get_what_is_published_between_its_join_and_its_leave() {
    let rooms = Rooms::new(SECOND);
    let room = rooms.intern("lobby").expect("there is room");
    assert_eq!(rooms.publish(room, 1, 0), Some(Publication { index: 0, members: 0 }));
    let mut member = rooms.join(room);
    assert_eq!(rooms.publish(room, 1, 1), Some(Publication { index: 1, members: 1 }));
    assert_eq!(rooms.publish(room, 1, 2), Some(Publication { index: 2, members: 1 }));
    let receipts = [0, 1, 1, 3].map(|index| rooms.receive(&mut member, &stamp(room, index, 1)));
    // Number 3 was never published, whatever the message says.
    assert_eq!(receipts, [Receipt::Unexpected, Receipt::Ok, Receipt::Duplicate, Receipt::Unexpected]);
    rooms.depart(room, &mut member);
    rooms.depart(room, &mut member);
    assert_eq!(rooms.members(room), 0);
    assert_eq!(rooms.publish(room, 1, 3), Some(Publication { index: 3, members: 0 }));
    let account = rooms.account(room, member, 4);
    assert_eq!(account, Account { expected: 2, delivered: 1, lost: 0, in_flight: 1 });
}

#[test]
fn out_of_order_is_what_the_same_sender_overtook() {
    let rooms = Rooms::new(SECOND);
    let room = rooms.intern("lobby").expect("there is room");
    let mut member = rooms.join(room);
    for sender in [1, 2, 1, 2] {
        rooms.publish(room, sender, 0);
    }
    let receipts = [(2, 1), (1, 2), (0, 1), (3, 2)]
        .map(|(index, sender)| rooms.receive(&mut member, &stamp(room, index, sender)));
    assert_eq!(receipts, [Receipt::Ok, Receipt::Ok, Receipt::Reordered, Receipt::Ok]);
    assert_eq!(rooms.unjudged(), Unjudged::default());
}

#[test]
fn what_cannot_be_judged_any_more_is_counted() {
    let rooms = Rooms::new(SECOND);
    let room = rooms.intern("lobby").expect("there is room");
    let mut member = rooms.join(room);
    for sender in 0..RECENT_SENDERS + 10 {
        rooms.publish(room, sender, 0);
    }
    assert_eq!(rooms.receive(&mut member, &stamp(room, 5, 5)), Receipt::Ok);
    assert_eq!(rooms.receive(&mut member, &stamp(room, 3, 3)), Receipt::Ok);
    assert_eq!(rooms.unjudged(), Unjudged { order: 1, ..Unjudged::default() });
    assert_eq!(rooms.publish(room + 1, 0, 0), None);
    assert_eq!(rooms.unjudged().publications, 1);
}

#[test]
fn what_is_missing_is_lost_after_the_settling_time_and_in_flight_before() {
    let rooms = Rooms::new(SECOND);
    let room = rooms.intern("lobby").expect("there is room");
    let join = || rooms.join(room);
    let members = [join(), join(), join(), join()];
    // One publication every 100 ms.
    for beat in 0..40 {
        rooms.publish(room, 1, beat * SECOND / 10);
    }
    let at_ms = [3_900, 3_950, 4_899, 4_900];
    let accounts = [0, 1, 2, 3].map(|n| rooms.account(room, members[n].clone(), at_ms[n] * SECOND / 1_000));
    for (account, at_ms) in accounts.into_iter().zip(at_ms) {
        assert_eq!((account.expected, account.lost + account.in_flight), (40, 40));
        let older = |settle_ms: u64| (0..40).filter(|beat| beat * 100 + settle_ms <= at_ms).count() as u64;
        assert!(account.lost <= older(1_000), "at {at_ms} ms: {account:?}");
        assert!(account.lost >= older(2_200), "at {at_ms} ms: {account:?}");
    }
    assert_eq!(accounts[3].lost, 40);
}

#[test]
fn what_was_taken_back_is_expected_of_nobody_who_did_not_get_it() {
    let rooms = Rooms::new(SECOND);
    let room = rooms.intern("lobby").expect("there is room");
    let (mut lucky, unlucky) = (rooms.join(room), rooms.join(room));
    for _ in 0..3 {
        rooms.publish(room, 1, 0);
    }
    rooms.withdraw(room, 1);
    rooms.withdraw(room, 1);
    rooms.receive(&mut lucky, &stamp(room, 1, 1));
    let account = |expected, delivered| Account { expected, delivered, lost: 2, in_flight: 0 };
    assert_eq!(rooms.account(room, lucky, 5 * SECOND), account(3, 1));
    assert_eq!(rooms.account(room, unlucky, 5 * SECOND), account(2, 0));
    (0..=WITHDRAWN_MAX as u32).for_each(|index| rooms.withdraw(room, index));
    assert_eq!(rooms.unjudged().publications, 1);
}

#[test]
fn what_is_in_doubt_is_expected_and_lost_to_nobody() {
    let rooms = Rooms::new(SECOND);
    let room = rooms.intern("lobby").expect("there is room");
    let (mut lucky, unlucky) = (rooms.join(room), rooms.join(room));
    for _ in 0..3 {
        rooms.publish(room, 1, 0);
    }
    rooms.doubt(room, 1);
    rooms.doubt(room, 1);
    rooms.receive(&mut lucky, &stamp(room, 1, 1));
    let account = |delivered, lost, in_flight| Account { expected: 3, delivered, lost, in_flight };
    assert_eq!(rooms.account(room, lucky, 5 * SECOND), account(1, 2, 0));
    assert_eq!(rooms.account(room, unlucky, 5 * SECOND), account(0, 2, 1));
    (0..=WITHDRAWN_MAX as u32).for_each(|index| rooms.doubt(room, index));
    assert_eq!(rooms.unjudged().publications, 1);
}

#[test]
fn many_threads_share_the_rooms() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 2_000;
    let rooms = Rooms::new(SECOND);
    let results: Vec<(u64, u64, Vec<u32>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let rooms = &rooms;
                scope.spawn(move || {
                    let (mut receivers, mut expected, mut indices) = (0, 0, Vec::new());
                    for round in 0..ROUNDS {
                        let room = rooms.intern(&format!("room {}", round % 100)).expect("there is room");
                        let member = rooms.join(room);
                        let publication =
                            rooms.publish(room, thread, u64::from(round)).expect("it is a room");
                        receivers += u64::from(publication.members);
                        expected += rooms.account(room, member, u64::from(round)).expected;
                        if round % 100 == 0 {
                            indices.push(publication.index);
                        }
                    }
                    (receivers, expected, indices)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it did not panic")).collect()
    });
    let receivers: u64 = results.iter().map(|(receivers, ..)| receivers).sum();
    let expected: u64 = results.iter().map(|(_, expected, _)| expected).sum();
    assert_eq!(receivers, expected, "each publication is expected by those who were members then");
    let indices: HashSet<u32> = results.into_iter().flat_map(|(.., indices)| indices).collect();
    assert_eq!(indices.len() as u32, THREADS * ROUNDS / 100);
    assert_eq!(rooms.count(), 100);
    assert!((0..100).all(|room| rooms.members(room) == 0 && rooms.next(room) == THREADS * ROUNDS / 100));
}
