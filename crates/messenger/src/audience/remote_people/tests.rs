//! How reports of several nodes about a person are merged.

use super::*;
use chat::Ulid;

const ONE: NodeId = NodeId(1);
const TWO: NodeId = NodeId(2);

fn ann() -> PersonId {
    PersonId::parse("ann").expect("a name")
}

fn place(number: u8) -> ConversationId {
    ConversationId(Ulid::from_bytes([number; 16]))
}

fn there(activity: Activity, choice: Choice, chosen: u64, places: &[u8]) -> PersonReport {
    let conversations = places.iter().copied().map(place).collect();
    let chosen = Moment::from_millis(chosen);
    let there = There { activity: Some(activity), devices: 1, choice, chosen, conversations };
    PersonReport { person: ann(), here: Some(there), seen: None }
}

fn gone() -> PersonReport {
    PersonReport { person: ann(), here: None, seen: None }
}

fn status(abroad: &RemotePeople) -> Status {
    abroad.presence(&ann()).map(|presence| presence.status).unwrap_or_default()
}

#[test]
fn what_nodes_tell_merges_and_the_newest_choice_counts() {
    let mut abroad = RemotePeople::default();
    abroad.hear(ONE, there(Activity::Idle, Choice::Auto, 0, &[]));
    assert_eq!(status(&abroad), Status::Away);
    abroad.hear(TWO, there(Activity::Active, Choice::Auto, 0, &[]));
    assert_eq!((status(&abroad), abroad.devices(&ann())), (Status::Online, 2));
    abroad.hear(ONE, there(Activity::Idle, Choice::Invisible, 2, &[]));
    assert_eq!(status(&abroad), Status::Offline);
    abroad.hear(TWO, there(Activity::Active, Choice::Busy, 3, &[]));
    assert_eq!(status(&abroad), Status::Busy);
    for node in [ONE, TWO] {
        abroad.hear(node, gone());
    }
    assert!(!abroad.has(&ann()) && status(&abroad) == Status::Offline && abroad.devices(&ann()) == 0);
    abroad.forget_if_gone(&ann());
    assert!(abroad.is_empty());
}

#[test]
fn somebody_is_in_what_any_of_their_nodes_says() {
    let mut abroad = RemotePeople::default();
    abroad.hear(ONE, there(Activity::Active, Choice::Auto, 0, &[1, 2]));
    abroad.hear(TWO, there(Activity::Active, Choice::Auto, 0, &[2, 3]));
    let places = |abroad: &RemotePeople| [1, 2, 3].map(|number| abroad.people_in(place(number)).count());
    assert_eq!(places(&abroad), [1, 1, 1]);
    let mut heard = abroad.hear(ONE, there(Activity::Active, Choice::Auto, 0, &[3, 4]));
    heard.places.sort_unstable();
    assert_eq!((heard.places, heard.new), ([1, 2, 3, 4].map(place).into(), vec![place(4)]));
    assert_eq!(places(&abroad), [0, 1, 1]);
    abroad.hear(TWO, gone());
    assert_eq!(places(&abroad), [0, 0, 1]);
    abroad.hear(ONE, gone());
    assert_eq!(places(&abroad), [0, 0, 0]);
    assert!(abroad.conversations.is_empty());
}

#[test]
fn who_is_not_told_of_again_is_lost() {
    let mut abroad = RemotePeople::default();
    let tell = |abroad: &mut RemotePeople, node| {
        drop(abroad.hear(node, there(Activity::Active, Choice::Auto, 0, &[])))
    };
    for node in [ONE, TWO] {
        tell(&mut abroad, node);
    }
    assert!(abroad.begin_to_lose(ONE, false).is_empty());
    abroad.doubt(Some(ONE));
    assert!(abroad.begin_to_lose(ONE, false) == [ann()] && abroad.begin_to_lose(TWO, false).is_empty());
    abroad.doubt(None);
    tell(&mut abroad, ONE);
    assert!(abroad.begin_to_lose(ONE, false).is_empty() && abroad.begin_to_lose(TWO, false) == [ann()]);
    assert!(abroad.begin_to_lose(ONE, true) == [ann()], "the node is gone");
    assert_eq!(abroad.nodes().collect::<HashSet<_>>(), HashSet::from([ONE, TWO]));
}

#[test]
fn who_is_told_of_while_they_leave_stays_and_who_is_only_doubted_does_not() {
    let mut abroad = RemotePeople::default();
    abroad.hear(ONE, there(Activity::Active, Choice::Auto, 0, &[]));
    assert!(!abroad.is_leaving(ONE, &ann()));
    abroad.begin_to_lose(ONE, true);
    abroad.doubt(None);
    assert!(abroad.begin_to_lose(ONE, true).is_empty(), "that began already");
    assert!(abroad.is_leaving(ONE, &ann()) && !abroad.is_leaving(TWO, &ann()));
    abroad.hear(ONE, there(Activity::Active, Choice::Auto, 0, &[]));
    abroad.doubt(None);
    assert!(!abroad.is_leaving(ONE, &ann()), "that is for another loss");
}
