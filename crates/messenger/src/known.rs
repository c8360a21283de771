//! A person as connections and the read cache store them.

use chat::{Person, PersonId, Profile, Role};

/// A person as others see them. There is one for everybody who is connected, so it contains only what joins need, in
/// few bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    id: PersonId,
    /// Their name, followed by the address of their avatar.
    texts: Box<str>,
    name_bytes: u32,
    has_avatar: bool,
    guest: bool,
    role: Option<Role>,
    receipts: bool,
}

impl Known {
    pub(crate) fn of(person: Person) -> Self {
        let Person { id, profile: Profile { name, avatar, guest, role }, receipts, .. } = person;
        let (name_bytes, has_avatar) = (name.len() as u32, avatar.is_some());
        let texts = (name + avatar.as_deref().unwrap_or_default()).into();
        Self { id, texts, name_bytes, has_avatar, guest, role, receipts }
    }

    /// Returns the person's id.
    pub fn id(&self) -> &PersonId {
        &self.id
    }

    /// Returns their profile.
    pub fn profile(&self) -> Profile {
        let (name, avatar) = self.texts();
        let (name, avatar) = (name.to_owned(), avatar.map(str::to_owned));
        Profile { name, avatar, guest: self.guest, role: self.role }
    }

    /// Returns whether others learn what they have read.
    pub(crate) fn receipts(&self) -> bool {
        self.receipts
    }

    /// Returns whether this is their profile.
    pub(crate) fn has(&self, profile: &Profile) -> bool {
        let Profile { name, avatar, guest, role } = profile;
        self.texts() == (name, avatar.as_deref()) && (self.guest, self.role) == (*guest, *role)
    }

    /// Returns the length of their name and avatar.
    pub(crate) fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    fn texts(&self) -> (&str, Option<&str>) {
        let (name, avatar) = self.texts.split_at(self.name_bytes as usize);
        (name, self.has_avatar.then_some(avatar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::somebody;
    use chat::Moment;

    #[test]
    fn somebody_is_known_as_they_are_and_in_few_bytes() {
        assert!(size_of::<Known>() <= 32, "{} bytes", size_of::<Known>());
        let profile = |name: &str, avatar: Option<&str>, role: Option<Role>| Profile {
            name: name.to_owned(),
            avatar: avatar.map(str::to_owned),
            guest: role.is_none(),
            role,
        };
        let profiles = [
            profile("Ann", None, None),
            profile("Ann", Some("https://a.example/ann"), None),
            profile("Ann", Some("https://a.example/bob"), Some(Role::Owner)),
            profile("Annhttps://a.example/ann", None, None),
            profile("", Some(""), None),
            profile("", None, None),
        ];
        for (nth, one) in profiles.iter().enumerate() {
            let (id, created) = (somebody("ann"), Moment::default());
            let person =
                Person { id, created, profile: one.clone(), receipts: true, seen: created, erasing: None };
            let known = Known::of(person);
            assert_eq!((known.profile(), known.receipts()), (one.clone(), true));
            for (place, other) in profiles.iter().enumerate() {
                assert_eq!(known.has(other), place == nth, "{one:?} {other:?}");
            }
        }
    }
}
