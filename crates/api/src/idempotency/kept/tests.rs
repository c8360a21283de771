//! What is answered again, and what is forgotten.

use super::*;

fn at(minutes: u64) -> Moment {
    Moment::from_millis(1_000 + minutes * MINUTE_MS)
}

fn asked(community: &str, by: &str, key: &str) -> KeyedRequest {
    KeyedRequest {
        community: Some(CommunityId::parse(community).expect("an id")),
        by: by.to_owned(),
        key: ClientId::parse(key).expect("a key"),
        request: 1,
        answer_kept: AnswerKept::Long,
    }
}

fn answer(body: impl Into<Vec<u8>>) -> Answer {
    Answer { status: StatusCode::CREATED, body: Bytes::from(body.into()) }
}

/// The outcome of a request: `first`, `again`, or a code.
fn begin(kept: &mut Kept, asked: KeyedRequest, now: Moment) -> &'static str {
    match kept.begin(asked, now) {
        Ok(Begun::First(_)) => "first",
        Ok(Begun::Again(_)) => "again",
        Err(problem) => problem.code().name(),
    }
}

/// Begins and completes a request with that answer.
fn done(kept: &mut Kept, asked: KeyedRequest, body: Answer, now: Moment) {
    let community = asked.community.clone();
    match kept.begin(asked, now) {
        Ok(Begun::First(number)) => kept.finish(&community, number, body, now),
        Ok(Begun::Again(_)) => panic!("it was done before"),
        Err(problem) => panic!("{problem:?}"),
    }
}

#[test]
fn a_request_is_under_way_then_answered_again_then_forgotten() {
    let mut kept = Kept::default();
    let same = || asked("acme", "ann", "k");
    let community = same().community;
    let Ok(Begun::First(number)) = kept.begin(same(), at(0)) else { panic!("it is the first") };
    assert_eq!(begin(&mut kept, same(), at(0)), "under_way");
    kept.finish(&community, number, answer("{}"), at(0));
    assert!(
        matches!(kept.begin(same(), at(1)), Ok(Begun::Again(again)) if again == answer("{}")),
        "the first answer"
    );
    assert_eq!(begin(&mut kept, KeyedRequest { request: 2, ..same() }, at(1)), "idempotency_key_reused");
    assert_eq!(begin(&mut kept, same(), at(KEEP_MINUTES)), "first");
}

#[test]
fn a_key_is_of_one_caller_of_one_community() {
    let mut kept = Kept::default();
    done(&mut kept, asked("acme", "ann", "k"), answer("{}"), at(0));
    for other in [asked("acme", "bob", "k"), asked("acme", "ann", "l"), asked("umbrella", "ann", "k")] {
        assert_eq!(begin(&mut kept, other, at(0)), "first");
    }
}

#[test]
fn what_came_to_nothing_leaves_its_key_free_and_what_was_done_does_not() {
    let mut kept = Kept::default();
    let same = || asked("acme", "ann", "k");
    let community = same().community;
    let Ok(Begun::First(number)) = kept.begin(same(), at(0)) else { panic!("it is the first") };
    kept.abandon(&community, number);
    let Ok(Begun::First(number)) = kept.begin(same(), at(0)) else { panic!("it is the first") };
    kept.finish(&community, number, answer("{}"), at(0));
    kept.abandon(&community, number);
    assert_eq!(begin(&mut kept, same(), at(0)), "again");
}

#[test]
fn a_secret_is_forgotten_soon_and_that_it_was_told_is_not() {
    let mut kept = Kept::default();
    let same = || KeyedRequest { answer_kept: AnswerKept::Briefly, ..asked("acme", "ann", "k") };
    done(&mut kept, same(), answer("secret"), at(0));
    kept.sweep(at(KEEP_SECRET_MINUTES - 1));
    assert_eq!(begin(&mut kept, same(), at(KEEP_SECRET_MINUTES - 1)), "again");
    kept.sweep(at(KEEP_SECRET_MINUTES));
    assert_eq!((kept.counts().keys, kept.counts().answer_bytes), (1, 0));
    assert_eq!(begin(&mut kept, same(), at(KEEP_SECRET_MINUTES)), "answer_gone");
    kept.sweep(at(KEEP_MINUTES));
    assert_eq!((kept.counts().keys, kept.shelves.len()), (0, 0));
}

#[test]
fn who_is_erased_is_not_named_in_what_is_kept() {
    let mut kept = Kept::default();
    let acme = CommunityId::parse("acme").expect("an id");
    let ann = PersonId::parse("ann").expect("an id");
    done(&mut kept, asked("acme", "ann", "own"), answer("{}"), at(0));
    done(&mut kept, asked("acme", "/key", "of-ann"), answer(r#"{"person":"ann"}"#), at(0));
    done(&mut kept, asked("acme", "/key", "of-anna"), answer(r#"{"person":"anna"}"#), at(0));
    done(&mut kept, asked("umbrella", "ann", "own"), answer("{}"), at(0));
    kept.forget(&acme, &ann);
    assert_eq!(begin(&mut kept, asked("acme", "/key", "of-ann"), at(0)), "answer_gone");
    assert_eq!(begin(&mut kept, asked("acme", "/key", "of-anna"), at(0)), "again");
    assert_eq!(begin(&mut kept, asked("umbrella", "ann", "own"), at(0)), "again");
    assert_eq!(begin(&mut kept, asked("acme", "ann", "own"), at(0)), "first");
}

#[test]
fn who_has_the_name_of_an_erased_community_is_answered_nothing_of_it() {
    let mut kept = Kept::default();
    let acme = CommunityId::parse("acme").expect("an id");
    for community in ["acme", "umbrella"] {
        done(&mut kept, asked(community, "ann", "k"), answer("{}"), at(0));
    }
    let Ok(Begun::First(number)) = kept.begin(asked("acme", "ann", "l"), at(0)) else { panic!("it is new") };
    kept.close(&acme);
    assert_eq!(begin(&mut kept, asked("acme", "ann", "k"), at(0)), "first");
    assert_eq!(begin(&mut kept, asked("umbrella", "ann", "k"), at(0)), "again");
    kept.finish(&Some(acme), number, answer("theirs"), at(0));
    assert_eq!(begin(&mut kept, asked("acme", "ann", "l"), at(0)), "answer_gone");
}

#[test]
fn what_is_under_way_while_somebody_is_erased_keeps_no_answer() {
    let mut kept = Kept::default();
    let (acme, ann) = (CommunityId::parse("acme").expect("an id"), PersonId::parse("ann").expect("an id"));
    let (same, others) = (|| asked("acme", "/key", "of-ann"), || asked("umbrella", "/key", "of-ann"));
    let Ok(Begun::First(number)) = kept.begin(same(), at(0)) else { panic!("it is the first") };
    let Ok(Begun::First(other)) = kept.begin(others(), at(0)) else { panic!("it is the first") };
    kept.forget(&acme, &ann);
    assert_eq!(begin(&mut kept, same(), at(0)), "under_way");
    kept.finish(&same().community, number, answer(r#"{"person":"ann"}"#), at(0));
    kept.finish(&others().community, other, answer(r#"{"person":"ann"}"#), at(0));
    assert_eq!(begin(&mut kept, same(), at(0)), "answer_gone");
    assert_eq!(begin(&mut kept, others(), at(0)), "again");
    assert_eq!(kept.counts().answer_bytes as usize, r#"{"person":"ann"}"#.len());
}

#[test]
fn who_asks_much_loses_their_own_oldest() {
    let mut kept = Kept::default();
    done(&mut kept, asked("acme", "bob", "first"), answer("{}"), at(0));
    for nth in 0..=OF_CALLER_MAX {
        done(&mut kept, asked("acme", "ann", &format!("k{nth}")), answer("{}"), at(0));
    }
    assert_eq!(kept.counts().keys as usize, OF_CALLER_MAX + 1);
    assert_eq!(begin(&mut kept, asked("acme", "bob", "first"), at(0)), "again");
    assert_eq!(begin(&mut kept, asked("acme", "ann", "k1"), at(0)), "again");
    assert_eq!(begin(&mut kept, asked("acme", "ann", "k0"), at(0)), "first");
}

#[test]
fn what_is_under_way_is_never_lost() {
    let mut kept = Kept::default();
    for nth in 0..OF_CALLER_MAX {
        assert_eq!(begin(&mut kept, asked("acme", "ann", &format!("k{nth}")), at(0)), "first");
    }
    assert_eq!(begin(&mut kept, asked("acme", "ann", "more"), at(0)), "busy");
    assert_eq!(begin(&mut kept, asked("acme", "bob", "more"), at(0)), "first");
}

#[test]
fn the_number_of_what_is_known_is_bounded_for_a_community_and_for_all() {
    let mut kept = Kept::default();
    for nth in 0..=OF_COMMUNITY_MAX {
        done(&mut kept, asked("acme", &format!("p{nth}"), "k"), answer("{}"), at(0));
    }
    assert_eq!(kept.counts().keys as usize, OF_COMMUNITY_MAX);
    for nth in OF_COMMUNITY_MAX..=ALL_MAX {
        done(&mut kept, asked(&format!("c{}", nth / 100), &format!("p{nth}"), "k"), answer("{}"), at(0));
    }
    assert_eq!(kept.counts().keys as usize, ALL_MAX);
    assert_eq!(begin(&mut kept, asked("acme", &format!("p{OF_COMMUNITY_MAX}"), "k"), at(0)), "again");
    done(&mut kept, asked("newcomer", "ann", "k"), answer("{}"), at(0));
    assert_eq!(kept.counts().keys as usize, ALL_MAX, "the oldest of all made room");
    assert_eq!(begin(&mut kept, asked("newcomer", "ann", "k"), at(0)), "again");
}

#[test]
fn answers_take_bounded_memory_and_it_stays_known_that_they_were() {
    let mut kept = Kept::default();
    let large = || answer(vec![b'x'; COMMUNITY_BYTES_MAX / 2]);
    for key in ["a", "b", "c"] {
        done(&mut kept, asked("acme", "ann", key), large(), at(0));
    }
    assert_eq!(kept.counts().answer_bytes as usize, COMMUNITY_BYTES_MAX);
    assert_eq!(begin(&mut kept, asked("acme", "ann", "a"), at(0)), "answer_gone");
    assert_eq!(begin(&mut kept, asked("acme", "ann", "c"), at(0)), "again");
    for nth in 0..40 {
        done(&mut kept, asked(&format!("c{nth}"), "ann", "k"), large(), at(0));
        assert!(kept.counts().answer_bytes as usize <= BYTES_MAX, "{nth}");
    }
    done(&mut kept, asked("acme", "ann", "huge"), answer(vec![b'x'; COMMUNITY_BYTES_MAX + 1]), at(0));
    assert_eq!(begin(&mut kept, asked("acme", "ann", "huge"), at(0)), "answer_gone");
}
