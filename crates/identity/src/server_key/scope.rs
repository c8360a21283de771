//! What a key permits.

use std::fmt;
use std::str::FromStr;

/// A permission of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Scope {
    /// Send messages as a person of the community.
    Send,
    /// List rooms, people and messages.
    List,
    /// Delete messages, mute and ban.
    Moderate,
    /// Create, change and delete rooms.
    ManageRooms,
    /// Create, change and erase people, and revoke their tokens.
    ManagePeople,
    /// Change the settings that a community controls itself.
    ManageSettings,
    /// Create, change and delete communities, and keys. Only for keys of the whole server.
    ManageCommunities,
    /// Publish to any topic.
    Publish,
    /// See who is present.
    Presence,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 9] = [
        Scope::Send,
        Scope::List,
        Scope::Moderate,
        Scope::ManageRooms,
        Scope::ManagePeople,
        Scope::ManageSettings,
        Scope::ManageCommunities,
        Scope::Publish,
        Scope::Presence,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Send => "send",
            Scope::List => "list",
            Scope::Moderate => "moderate",
            Scope::ManageRooms => "manage_rooms",
            Scope::ManagePeople => "manage_people",
            Scope::ManageSettings => "manage_settings",
            Scope::ManageCommunities => "manage_communities",
            Scope::Publish => "publish",
            Scope::Presence => "presence",
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Scopes(u16);

impl Scopes {
    /// No scope.
    pub const NONE: Scopes = Scopes(0);

    /// Whether it contains `scope`.
    pub fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Adds a scope.
    #[must_use]
    pub fn with(self, scope: Scope) -> Self {
        Scopes(self.0 | scope.bit())
    }

    /// Removes a scope.
    #[must_use]
    pub fn without(self, scope: Scope) -> Self {
        Scopes(self.0 & !scope.bit())
    }

    /// Iterates in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        scopes.into_iter().fold(Scopes::NONE, Scopes::with)
    }
}

impl fmt::Display for Scopes {
    /// Comma-separated names, as parsed by [`FromStr`].
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Scope::name).collect();
        to.write_str(&names.join(","))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Scopes({self})")
    }
}

impl FromStr for Scopes {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let scope = |name| {
            Scope::ALL.into_iter().find(|scope| scope.name() == name).ok_or_else(|| UnknownScope::new(name))
        };
        names.map(scope).collect()
    }
}

/// A name that is not a scope's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownScope {
    name: String,
}

impl UnknownScope {
    fn new(name: &str) -> Self {
        UnknownScope { name: name.chars().take(32).collect() }
    }
}

impl fmt::Display for UnknownScope {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "unknown scope {:?}: the scopes are {}", self.name, Scopes::from_iter(Scope::ALL))
    }
}

impl std::error::Error for UnknownScope {}
