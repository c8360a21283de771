//! For any sequence of operations, the hub must agree with the reference model.

use crate::model::operation::{Operation, SLOTS, TOPICS};
use crate::model::run;
use proptest::prelude::*;

fn operation() -> impl Strategy<Value = Operation> {
    let place = || (0..SLOTS, 0..TOPICS);
    prop_oneof![
        3 => (0..SLOTS).prop_map(|slot| Operation::Open { slot }),
        1 => (0..SLOTS).prop_map(|slot| Operation::Close { slot }),
        6 => (place(), prop::bool::weighted(0.2))
            .prop_map(|((slot, topic), later)| Operation::Join { slot, topic, later }),
        1 => place().prop_map(|(slot, topic)| Operation::Leave { slot, topic }),
        1 => place().prop_map(|(slot, topic)| Operation::Echo { slot, topic }),
        4 => (place(), any::<bool>()).prop_map(|((slot, topic), from)| Operation::Publish { slot, topic, from }),
        2 => (place(), 0..TOPICS).prop_map(|((slot, topic), to)| Operation::PublishTo { slot, topic, to }),
        2 => (0..TOPICS).prop_map(|topic| Operation::PublishNow { topic }),
        2 => Just(Operation::Answer),
        4 => (1u8..8).prop_map(|budget| Operation::Pump { budget }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hub_says_what_the_reference_model_says(operations in prop::collection::vec(operation(), 0..120)) {
        run(&operations);
    }
}
