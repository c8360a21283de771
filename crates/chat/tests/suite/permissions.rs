//! The permissions, written down a second time, as a reader would expect them for each kind of conversation.

use chat::{Action, Kind, Role, Standing, permits};

const OUTSIDE: [Standing; 2] = [Standing::Visitor, Standing::Passerby];

fn all() -> impl Iterator<Item = (Standing, Action, Kind)> {
    Standing::ALL.into_iter().flat_map(|standing| {
        let cells = Action::ALL.iter().flat_map(|&action| Kind::ALL.map(|kind| (action, kind)));
        cells.map(move |(action, kind)| (standing, action, kind))
    })
}

/// Whether a role exists in that kind: guests only in public and private rooms, and in a direct conversation both are
/// equal.
fn exists(role: Role, kind: Kind) -> bool {
    match kind {
        Kind::Public | Kind::Private => true,
        Kind::Members | Kind::Group => role != Role::Guest,
        Kind::Direct => role == Role::Member,
    }
}

#[test]
fn every_cell_of_the_table_is_what_it_was() {
    let mut table = String::new();
    for &action in Action::ALL {
        for kind in Kind::ALL {
            let who = Standing::ALL.into_iter().filter(|&standing| permits(standing, action, kind));
            let who: Vec<String> = who.map(name).collect();
            table.push_str(&format!("{} {}: {}\n", action.name(), kind.name(), who.join(" ")));
        }
    }
    // The diff is easier to read than the table: `diff` the file with this output.
    assert!(
        table == include_str!("permissions.txt"),
        "the table is not tests/permissions.txt, but:\n{table}"
    );
}

fn name(standing: Standing) -> String {
    match standing {
        Standing::In(role) => role.name().to_owned(),
        Standing::Visitor => "visitor".to_owned(),
        Standing::Passerby => "passerby".to_owned(),
    }
}

#[test]
fn who_may_do_anything_may_know_that_the_conversation_is_there() {
    for (standing, action, kind) in all() {
        let is_invited = action == Action::JoinInvited;
        if permits(standing, action, kind) && !is_invited {
            assert!(permits(standing, Action::See, kind), "{standing:?} {action:?} {kind:?}");
        }
    }
}

#[test]
fn outside_nobody_changes_anything_but_by_coming_in_or_reporting() {
    let open =
        [Action::See, Action::Read, Action::SeeMembers, Action::Join, Action::JoinInvited, Action::Report];
    for (standing, action, kind) in all().filter(|(standing, ..)| OUTSIDE.contains(standing)) {
        assert!(
            !permits(standing, action, kind) || open.contains(&action),
            "{standing:?} {action:?} {kind:?}"
        );
    }
}

#[test]
fn from_outside_nothing_of_what_is_private_is_seen() {
    let closed = [Kind::Private, Kind::Direct, Kind::Group];
    for (standing, action, kind) in all().filter(|(standing, ..)| OUTSIDE.contains(standing)) {
        if closed.contains(&kind) && action != Action::JoinInvited {
            assert!(!permits(standing, action, kind), "{standing:?} {action:?} {kind:?}");
        }
    }
}

#[test]
fn a_higher_role_may_whatever_a_lower_one_may() {
    for (action, kind) in Action::ALL.iter().flat_map(|&action| Kind::ALL.map(|kind| (action, kind))) {
        let roles: Vec<Role> = Role::ALL.into_iter().filter(|&role| exists(role, kind)).collect();
        for pair in roles.windows(2) {
            let lower = permits(Standing::In(pair[0]), action, kind);
            let higher = permits(Standing::In(pair[1]), action, kind);
            assert!(!lower || higher, "{:?} may and {:?} may not: {action:?} {kind:?}", pair[0], pair[1]);
        }
    }
}

#[test]
fn a_role_that_cannot_be_had_permits_nothing() {
    for (action, kind) in Action::ALL.iter().flat_map(|&action| Kind::ALL.map(|kind| (action, kind))) {
        for role in Role::ALL.into_iter().filter(|&role| !exists(role, kind)) {
            assert!(!permits(Standing::In(role), action, kind), "{role:?} {action:?} {kind:?}");
        }
    }
}

#[test]
fn whoever_is_in_reads_writes_and_follows() {
    for kind in Kind::ALL {
        for role in Role::ALL {
            for action in
                [Action::See, Action::Read, Action::Send, Action::React, Action::Follow, Action::SeeMembers]
            {
                let may = permits(Standing::In(role), action, kind);
                assert_eq!(may, exists(role, kind), "{role:?} {action:?} {kind:?}");
            }
        }
    }
}
