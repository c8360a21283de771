//! Server keys.

use identity::{Community, Scope, Scopes, ServerKey, StoredKey, UnixSeconds};

const NOW: UnixSeconds = UnixSeconds(1_800_000_000);

fn entropy(first: u8) -> [u8; 40] {
    std::array::from_fn(|place| first.wrapping_add(place as u8))
}

#[test]
fn a_key_is_found_by_its_prefix_and_known_by_its_hash() {
    let minted = StoredKey::mint(Some(Community::new("club")), Scopes::NONE.with(Scope::Send), entropy(0));
    let presented = ServerKey::parse(minted.key.expose()).expect("what was shown");
    assert_eq!(presented.prefix(), minted.stored.prefix);
    assert!(minted.stored.is(&presented, NOW));
    let mut same_prefix = entropy(0);
    same_prefix[39] ^= 1;
    let other = StoredKey::mint(None, Scopes::NONE, same_prefix);
    assert_eq!(other.stored.prefix, minted.stored.prefix);
    assert!(!minted.stored.is(&other.key, NOW));
    let secret = &minted.key.expose()[21..];
    let kept = format!("{:?} {}", minted, minted.stored);
    assert!(!kept.contains(secret), "what is kept and logged has not the secret in it: {kept}");
}

#[test]
fn a_key_ends() {
    let mut minted = StoredKey::mint(None, Scopes::NONE, entropy(0));
    minted.stored.not_after = Some(NOW);
    assert!(minted.stored.is(&minted.key, NOW));
    assert!(!minted.stored.is(&minted.key, UnixSeconds(NOW.0 + 1)));
}

#[test]
fn a_key_is_for_its_scopes_in_its_community() {
    let (club, other) = (Community::new("club"), Community::new("other"));
    for granted in Scope::ALL {
        let of_club = StoredKey::mint(Some(club.clone()), Scopes::NONE.with(granted), entropy(0)).stored;
        let of_server = StoredKey::mint(None, Scopes::NONE.with(granted), entropy(0)).stored;
        for asked in Scope::ALL {
            let same = granted == asked;
            assert_eq!(of_server.allows(asked, &club), same);
            assert_eq!(of_club.allows(asked, &club), same && granted != Scope::ManageCommunities);
            assert!(!of_club.allows(asked, &other));
        }
    }
}

#[test]
fn scopes_are_written_as_they_are_read() {
    let some: Scopes = "send, list,presence".parse().expect("scopes");
    assert_eq!(some.to_string(), "send,list,presence");
    let all = Scopes::from_iter(Scope::ALL);
    assert_eq!(all.to_string().parse(), Ok(all));
    assert_eq!("".parse(), Ok(Scopes::NONE));
    let unknown = "send,root".parse::<Scopes>().expect_err("no scope").to_string();
    assert_eq!(
        unknown,
        "unknown scope \"root\": the scopes are send,list,moderate,manage_rooms,manage_people,manage_settings,manage_communities,publish,presence"
    );
}
