//! The contract between a bus and the hub (`hub/src/bus.rs`), tested with a real server of each engine.

#[path = "../node/mod.rs"]
mod node;

mod ephemeral;
mod failing;
mod histories;
mod losses;
mod order;
mod peers;
mod presence;

use node::redis_server::Family;

/// Turns each function of the modules into a test of one engine.
macro_rules! tests_of {
    ($engine:ident: $start:expr; $($module:ident: $($test:ident)*;)*) => {
        mod $engine {
            $(mod $module { $(
                #[test]
                fn $test() {
                    crate::$module::$test($start);
                }
            )* })*
        }
    };
}

/// Turns them into tests of every engine.
macro_rules! contract {
    ($($tests:tt)*) => {
        tests_of! { redis: crate::Family::Redis.start(); $($tests)* }
        tests_of! { valkey: crate::Family::Valkey.start(); $($tests)* }
        tests_of! { redis_cluster: crate::node::redis_cluster::start(crate::Family::Redis); $($tests)* }
        tests_of! { nats: crate::node::nats_server::start(); $($tests)* }
    };
}

/// Turns them into tests of every engine to which a node's connection can be cut by a proxy: members of a cluster
/// announce their addresses themselves.
macro_rules! contract_of_ways {
    ($($tests:tt)*) => {
        tests_of! { redis_by_proxy: crate::Family::Redis.start(); $($tests)* }
        tests_of! { valkey_by_proxy: crate::Family::Valkey.start(); $($tests)* }
        tests_of! { nats_by_proxy: crate::node::nats_server::start(); $($tests)* }
    };
}

contract! {
    ephemeral:
        a_publication_reaches_each_node_that_asked_for_the_topic_and_no_other
        what_one_node_publishes_comes_in_its_order
        nothing_is_told_of_a_topic_that_is_not_wanted_any_more
        bytes_and_texts_in_any_language_come_as_they_were
        words_of_a_node_reach_every_other_one_in_their_order
        what_is_to_end_is_told_to_every_other_node_whatever_it_asked_for;
    order:
        all_nodes_are_told_the_same_order_without_a_hole
        a_subscription_says_where_the_topic_stands_and_nothing_is_missing_behind_that
        who_is_left_out_is_told_with_the_publication
        heads_are_told_to_the_others
        answers_go_to_the_shard_that_asked;
    histories:
        everything_is_read_from_the_oldest_on
        the_newest_are_read_up_to_the_bounds
        what_is_too_many_is_gone_and_that_is_said
        what_is_too_old_is_gone_and_that_is_said
        what_is_too_old_is_gone_though_nothing_followed_it_and_the_topic_stands_where_it_stood
        a_topic_that_nobody_published_on_has_nothing;
    presence:
        a_change_reaches_the_others_and_is_kept
        all_people_of_a_node_replace_those_before
        nodes_see_each_other_come
        a_node_that_was_killed_takes_its_people_with_it
        a_node_whose_lease_was_over_comes_back_without_its_people;
    peers:
        nodes_learn_where_the_others_listen_and_what_to_show_there
        nodes_are_known_again_after_the_engine_lost_everything;
    losses:
        what_a_queue_had_no_room_for_is_told_to_the_others_as_lost;
    failing:
        an_engine_that_stops_is_away_and_comes_back
        an_engine_that_does_not_run_cannot_be_reached_and_is_found_when_it_does
        more_than_a_queue_holds_is_answered_and_counted_and_the_rest_is_done
        what_was_kept_before_the_engine_was_killed_is_there_afterwards
        an_engine_that_lost_its_newest_begins_another_order
        nodes_go_on_together_after_the_engine_was_killed;
}

contract_of_ways! {
    losses:
        what_a_node_published_while_it_was_cut_off_is_told_to_the_others_as_lost
        what_is_published_before_the_engine_is_found_is_told_to_the_others_as_lost
        what_was_on_its_way_when_a_node_was_cut_off_is_told_to_the_others_as_lost;
}
