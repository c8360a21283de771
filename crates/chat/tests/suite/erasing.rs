//! How much one step of an erasure does.

use chat::limits::REACTIONS_COUNTED_MAX;
use chat::verbs::*;
use chat::*;

const MESSAGES: u64 = 3;

fn ask<C>(rows: &mut MemoryRows, by: &str, nth: u64, command: C) -> <Asked<C> as Verb>::Answer
where
    Asked<C>: Verb,
{
    let by = if by.is_empty() { By::Service } else { By::Person(person(by)) };
    let entropy = Entropy((u128::from(nth) << 8).to_be_bytes());
    let call = Call { community: community(), by, now: Moment::from_millis(1_700_000_000_000), entropy };
    call.ask(command).run(rows).expect("they may")
}

fn community() -> CommunityId {
    CommunityId::parse("c").expect("it is a name")
}

fn person(name: &str) -> PersonId {
    PersonId::parse(name).expect("it is a name")
}

#[test]
fn a_step_counts_so_many_reactions_of_others_and_leaves_the_rest_to_the_next() {
    let mut rows = MemoryRows::default();
    ask(&mut rows, "", 1, CreateCommunity { settings: Settings::named("c") });
    let name = RoomName::parse("room").expect("it is a name");
    let conversation = ask(&mut rows, "", 2, CreateRoom::public(name, "Room")).id;
    let profile = Profile { name: "Ann".into(), avatar: None, guest: false, role: None };
    ask(&mut rows, "ann", 3, Meet { profile });
    ask(&mut rows, "ann", 4, Join { conversation, invitation: None });
    for seq in 1..=MESSAGES {
        ask(&mut rows, "", 4 + seq, Append { conversation, draft: Draft::text(None, "popular") });
        let others = (1..=REACTIONS_COUNTED_MAX / 2).map(|nth| format!("p{nth}"));
        for (who, emoji) in others.map(|who| (who, "a")).chain([("ann".into(), "a"), ("ann".into(), "b")]) {
            let (seq, emoji, at) = (Seq(seq), emoji.to_owned(), Moment::default());
            let reaction = Reaction { conversation, seq, person: person(&who), emoji, at };
            rows.put(&community(), &reaction.into()).expect("it is taken");
        }
    }
    // She wrote nothing and nobody mentioned her, so her reactions come first.
    for (nth, places) in [(10, &[1, 2][..]), (11, &[3])] {
        let step = ask(&mut rows, "", nth, Erase { person: person("ann") });
        let vanished: Vec<u64> = step.vanished.iter().map(|vanished| vanished.message.seq.0).collect();
        assert_eq!((&*vanished, step.reactions), (places, 2 * places.len() as u64));
        for Vanished { emoji, reactions, .. } in step.vanished {
            assert_eq!(emoji, ["a", "b"]);
            let left = Tally { emoji: "a".into(), count: REACTIONS_COUNTED_MAX / 2, mine: false };
            assert_eq!(reactions, [left]);
        }
    }
}
