//! Admission of a person.

use super::{AllowedRooms, Credentials, Directory, seconds};
use crate::cache::ConfirmedPerson;
use crate::clock::now;
use crate::fault::{ErrorCode, Fault};
use crate::known::Known;
use crate::messenger::Messenger;
use chat::verbs::{Meet, ReadPerson};
use chat::{By, CommunityId, Failure, PersonId, Profile, Role};
use identity::{Action, Claims, Code, GuestPolicy, GuestRefusal, Issuer, Refusal, Token, Verified};
use std::sync::Arc;

/// How long a person who came in with the same profile is not read again.
const MET_MS: u64 = 5 * 60 * 1_000;

/// A person who was admitted.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The person.
    pub person: Known,
    /// The rooms that their token is valid for.
    pub rooms: AllowedRooms,
    /// The verified token.
    pub verified: Verified,
    /// For a guest: the token to come back with.
    pub token: Option<Token>,
}

/// Why a person was not admitted.
#[derive(Clone, PartialEq, Debug)]
pub enum Rejection {
    /// Their token was refused.
    Token(Refusal),
    /// They cannot become a guest.
    Guest(GuestRefusal),
    /// The community has reached its limit of people.
    Full {
        /// The limit.
        max: u32,
    },
    /// The community's own site refused.
    Site {
        /// The reason that the site gave.
        reason: Option<String>,
    },
    /// The community's own site did not answer, and must be asked.
    SiteAway,
    /// A rule refused it, or the store is unavailable.
    Failure(Failure),
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Token(refusal)
    }
}

impl From<GuestRefusal> for Rejection {
    fn from(refusal: GuestRefusal) -> Self {
        Self::Guest(refusal)
    }
}

impl From<Failure> for Rejection {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Rejection> for Fault {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Token(refusal) => {
                let (code, message) = match refusal.code() {
                    Code::TokenExpired => (ErrorCode::TokenExpired, "the token has expired: get a new one"),
                    Code::TokenInvalid => {
                        (ErrorCode::TokenInvalid, "the token is not valid in this community")
                    }
                    Code::TokenRevoked => (ErrorCode::TokenRevoked, "the token was revoked: sign in again"),
                    Code::TokenUnverifiable => {
                        (ErrorCode::TokenUnverifiable, "the token cannot be verified now: try again later")
                    }
                };
                Self::new(code, message)
            }
            Rejection::Guest(GuestRefusal::Name(_)) => Self::new(
                ErrorCode::NameInvalid,
                "the name must have 1 to 200 bytes and no control characters",
            ),
            Rejection::Guest(GuestRefusal::Off | GuestRefusal::NotAGuest) => Self::new(
                ErrorCode::GuestsRefused,
                "this community does not admit guests: connect with a token",
            ),
            Rejection::Full { max } => {
                Self::new(ErrorCode::CommunityFull, "the community is full: try again later").with("max", max)
            }
            Rejection::Site { reason } => {
                let fault = Self::new(ErrorCode::RefusedBySite, "the community's site refused it");
                match reason {
                    Some(reason) => fault.with("reason", reason),
                    None => fault,
                }
            }
            Rejection::SiteAway => Self::new(
                ErrorCode::SiteUnavailable,
                "the community's site must authorize this but cannot be reached now: try again later",
            ),
            Rejection::Failure(failure) => failure.into(),
        }
    }
}

impl Messenger {
    /// Admits a person: verifies their token, or makes them a guest, and records them in the community. The reason why
    /// a token is rejected is logged, and not sent to its bearer.
    ///
    /// # Errors
    /// See [`Rejection`].
    pub async fn admit(&self, credentials: &Credentials) -> Result<Admitted, Rejection> {
        let directory = self.directory(&credentials.community).await?;
        let (verified, token) = self.read_credentials(&directory, credentials).await?;
        let id = person_of(&verified)?;
        // The place is taken when the session opens. Checking it here avoids asking the site and writing the person in
        // vain.
        let people_max = directory.community.settings.limits.people_online;
        self.inner.entrance.require_place(&credentials.community, &id, people_max)?;
        self.welcome(&credentials.community, id, verified, token).await
    }

    /// Identifies the bearer of a token for one request: like [`Messenger::admit`], but without a connection, so the
    /// limit of people online does not apply, and no guest's token is renewed.
    ///
    /// # Errors
    /// See [`Rejection`].
    pub async fn identify(&self, community: &CommunityId, token: &Token) -> Result<Admitted, Rejection> {
        let directory = self.directory(community).await?;
        let verified = self.verify(&directory, token).await?;
        let id = person_of(&verified)?;
        self.welcome(community, id, verified, None).await
    }

    /// Creates a token for a guest who has not come in yet: for a new guest, or for the one that the credentials' token
    /// names.
    ///
    /// # Errors
    /// [`Rejection::Token`], [`Rejection::Guest`]; [`Rejection::Failure`] if there is no such community.
    pub async fn welcome_guest(&self, credentials: &Credentials) -> Result<(Token, Verified), Rejection> {
        let directory = self.directory(&credentials.community).await?;
        let (verified, token) = self.read_credentials(&directory, credentials).await?;
        Ok((token.ok_or(GuestRefusal::NotAGuest)?, verified))
    }

    /// Determines who a person is, and for a guest the token to come back with.
    async fn read_credentials(
        &self,
        directory: &Directory,
        credentials: &Credentials,
    ) -> Result<(Verified, Option<Token>), Rejection> {
        let (guests, policy, now) = (&self.inner.entrance.guests, directory.guests(), seconds());
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).expect("the system has random numbers");
        let token = match &credentials.token {
            None => {
                let (community, name) = (directory.authority.community(), credentials.name.as_deref());
                guests.welcome(&policy, community, name, entropy, now)?.0
            }
            Some(token) => {
                let verified = self.verify(directory, token).await?;
                if verified.issuer == Issuer::HostSite {
                    return Ok((verified, None));
                }
                let renewal = entropy.first_chunk().copied().unwrap_or_default();
                guests.renew(&policy, &verified, renewal, now)?.0
            }
        };
        let verified = directory.authority.verify(&token, now).await?;
        Ok((verified, Some(token)))
    }

    /// Verifies a token, checks that it is not revoked, and refuses a guest's if the community no longer accepts
    /// guests.
    async fn verify(&self, directory: &Directory, token: &Token) -> Result<Verified, Rejection> {
        let community = directory.authority.community();
        let verified = directory.authority.verify(token, seconds()).await.and_then(|verified| {
            self.inner.entrance.judge(&verified)?;
            Ok(verified)
        });
        let verified = verified.inspect_err(|refusal| {
            tracing::info!(community = community.as_str(), %refusal, "a token was refused");
        })?;
        if verified.issuer == Issuer::Guests && directory.guests() == GuestPolicy::Off {
            return Err(GuestRefusal::Off.into());
        }
        Ok(verified)
    }

    async fn welcome(
        &self,
        community: &CommunityId,
        id: PersonId,
        verified: Verified,
        token: Option<Token>,
    ) -> Result<Admitted, Rejection> {
        self.permit(community, &id, Action::Connect, community.as_str()).await?;
        // The token may have been revoked while the site was asked.
        self.inner.entrance.judge(&verified)?;
        let person = self.meet(community, id, profile(&verified)).await?;
        let rooms = AllowedRooms::claimed(verified.claims.rooms.as_deref());
        Ok(Admitted { person, rooms, verified, token })
    }

    /// Writes only a person who is new, or whose profile differs from the stored one. Returning people are only read,
    /// and not even that if they came in a moment ago.
    async fn meet(&self, community: &CommunityId, id: PersonId, profile: Profile) -> Result<Known, Failure> {
        // Normalized like the stored profile.
        let profile = profile.checked()?;
        let cache = &self.inner.cache;
        if let Some(ConfirmedPerson { person, at }) = cache.known_person(community, &id)
            && person.has(&profile)
            && now().since_ms(at) < MET_MS
        {
            return Ok(Arc::unwrap_or_clone(person));
        }
        let (read_at, at) = (cache.person_generations(community, &id), now());
        match self.ask(community, By::Person(id.clone()), ReadPerson { person: id.clone() }).await {
            Ok(known) if known.profile == profile => {
                let person = Arc::new(Known::of(known));
                cache.keep_person(community, ConfirmedPerson { person: person.clone(), at }, read_at);
                // No copy, unless the cache keeps it.
                return Ok(Arc::unwrap_or_clone(person));
            }
            // A banned person gets `Absent`, too: the `Meet` below reports the ban.
            Ok(_) | Err(Failure::Absent(_)) => {}
            Err(failure) => return Err(failure),
        }
        self.ask(community, By::Person(id), Meet { profile }).await.map(Known::of)
    }
}

fn person_of(verified: &Verified) -> Result<PersonId, Refusal> {
    PersonId::parse(&verified.claims.subject)
        .map_err(|_| Refusal::Claim { name: "sub", fault: identity::ClaimFault::Character })
}

/// Converts a token's claims to a profile.
fn profile(verified: &Verified) -> Profile {
    let Claims { subject, name, avatar, roles, .. } = &verified.claims;
    let role =
        [Role::Owner, Role::Moderator].into_iter().find(|role| roles.iter().any(|name| name == role.name()));
    let guest = verified.issuer == Issuer::Guests;
    Profile {
        name: name.clone().unwrap_or_else(|| subject.clone()),
        // A page loaded by TLS would not load an image from any other address.
        avatar: avatar.clone().filter(|address| address.starts_with("https://")),
        guest,
        role: role.filter(|_| !guest),
    }
}
