use super::*;
use proptest::prelude::*;

fn node() -> impl Strategy<Value = NodeId> {
    any::<u64>().prop_map(NodeId)
}

fn payload() -> impl Strategy<Value = Outgoing<'static>> {
    let json = ".*".prop_map(|text: String| Outgoing::Json(Cow::Owned(text)));
    let binary =
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| Outgoing::Binary(Cow::Owned(bytes)));
    prop_oneof![json, binary]
}

fn reference() -> impl Strategy<Value = PhxRef> {
    "[A-Za-z0-9_-]{16}".prop_map(|text| PhxRef::parse(&text).expect("16 characters of base64"))
}

fn change() -> impl Strategy<Value = PresenceChange> {
    let left = prop::option::of((".*", reference()).prop_map(|(key, reference)| (key.into(), reference)));
    let meta = |(key, reference, json): (String, PhxRef, String)| PresenceMeta {
        key: key.into(),
        reference,
        json: json.into(),
    };
    let joined = prop::option::of((".*", reference(), ".*").prop_map(meta));
    (left, joined).prop_map(|(left, joined)| PresenceChange { left, joined })
}

fn dismissal() -> impl Strategy<Value = Dismissal> {
    let code = prop_oneof![Just(1001), 4000..5000u16];
    let sockets = (".*", code).prop_map(|(id, code)| Dismissal::Sockets { id: id.into(), code });
    let joins = (".*", ".*").prop_map(|(id, topic)| Dismissal::Joins { id: id.into(), topic: topic.into() });
    prop_oneof![sockets, joins]
}

/// Encodes it as an engine's script does.
fn ordered(epoch: &str, offset: u64, previous: u64, kept: &[u8]) -> Vec<u8> {
    let mut bytes = vec![ORDERED, epoch.len() as u8];
    bytes.extend_from_slice(format!("{epoch}{offset:020}{previous:020}").as_bytes());
    bytes.extend_from_slice(kept);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_frame_is_read_as_it_was_written(
        node in node(), event in ".*", payload in payload(), change in change(),
        except in prop::option::of("[A-Za-z0-9_-]{16}"), epoch in "[a-z0-9.]{1,64}",
        (offset, previous, version) in any::<(u64, u64, u64)>(),
    ) {
        let event: Box<str> = event.into();
        let bytes = published(node, &event, &payload);
        prop_assert_eq!(sender(&bytes), Some(node));
        let frame = Frame::Published { node, event: event.clone(), payload: payload.clone() };
        prop_assert_eq!(read(&bytes), Some(frame));

        let bytes = lost(node, Duration::from_millis(version));
        prop_assert_eq!(sender(&bytes), Some(node));
        prop_assert_eq!(read(&bytes), Some(Frame::Lost { node, age_ms: version }));

        let except = except.and_then(|name| PublisherId::parse(&name));
        let draft = Draft { topic: "t".into(), event: event.clone(), payload: payload.clone(), received: Micros(0), except };
        let bytes = ordered(&epoch, offset, previous, &kept(node, &draft));
        let epoch = Epoch::new(&epoch).expect("letters and digits");
        let kept = Kept { node, except, event, payload };
        prop_assert_eq!(sender(&bytes), None);
        prop_assert_eq!(kept.clone().into_draft("t".into(), Micros(0)), draft);
        prop_assert_eq!(read(&bytes), Some(Frame::Ordered { epoch: epoch.clone(), offset, previous, kept }));

        let position = Position { epoch, offset };
        prop_assert_eq!(read(&head(node, &position)), Some(Frame::Head { node, position }));
        let bytes = present(node, version, previous, &change);
        prop_assert_eq!(read(&bytes), Some(Frame::Present { node, version, previous, change }));
        prop_assert_eq!(read(&presence_head(node, version)), Some(Frame::PresenceHead { node, version }));
    }

    #[test]
    fn what_is_to_end_is_read_as_it_was_written(node in node(), dismissal in dismissal()) {
        let bytes = dismissed(node, &dismissal);
        prop_assert_eq!(sender(&bytes), Some(node));
        prop_assert_eq!(read(&bytes), Some(Frame::Dismissed { node, dismissal }));
    }

    #[test]
    fn words_are_read_as_they_were_written(node in node(), words in prop::collection::vec(any::<u8>(), 0..40)) {
        let bytes = told(node, &words);
        prop_assert_eq!(sender(&bytes), Some(node));
        prop_assert_eq!(read(&bytes), Some(Frame::Told { node, words: words.into() }));
    }

    #[test]
    fn what_comes_from_elsewhere_is_refused_or_read_and_never_ends_anything(
        kind in prop::sample::select(b"elohpqdw\0".to_vec()), rest in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let bytes: Vec<u8> = [kind].into_iter().chain(rest).collect();
        let _ = (read(&bytes), sender(&bytes), read_kept(&bytes));
    }
}

#[test]
fn sockets_are_closed_with_no_code_that_is_the_protocols() {
    let sockets = |code| dismissed(NodeId(1), &Dismissal::Sockets { id: "ann".into(), code });
    for code in [0, 999, 1000, 1002, 1005, 1006, 1015, 3000, 3999, 5000, u16::MAX] {
        assert_eq!(read(&sockets(code)), None, "{code}");
    }
    for code in [1001, 4000, 4999] {
        assert!(read(&sockets(code)).is_some(), "{code}");
    }
}

#[test]
fn a_frame_that_was_cut_is_refused() {
    let meta = PresenceMeta {
        key: "ann".into(),
        reference: PhxRef::parse(&"A".repeat(16)).expect("a ref"),
        json: "{}".into(),
    };
    let whole = present(
        NodeId(1),
        2,
        1,
        &PresenceChange { left: Some(("bob".into(), meta.reference)), joined: Some(meta) },
    );
    // The last field is text up to the end, so a shorter one is a valid frame, too.
    for length in 0..whole.len() - "{}".len() {
        assert_eq!(read(&whole[..length]), None, "{length}");
    }
}
