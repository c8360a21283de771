//! Coming in.

use super::{Credentials, Directory, seconds};
use crate::fault::{ErrorCode, Fault};
use crate::messenger::{Messenger, now};
use chat::verbs::Meet;
use chat::{By, CommunityId, Failure, Person, PersonId, Profile, Role, RoomName};
use identity::{Action, Claims, Code, GuestRefusal, Issuer, Refusal, Token, Verified};
use std::sync::Arc;

/// For so long somebody who was met need not be met again when they say the same of themselves.
const MET_MS: u64 = 5 * 60 * 1_000;

/// Somebody who came in.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// Who.
    pub person: Arc<Person>,
    /// The only rooms that they may be in, if their token says so; none: all that they may see.
    pub rooms: Option<Vec<RoomName>>,
    /// What their token says.
    pub verified: Verified,
    /// For a guest: the token to come back with.
    pub token: Option<Token>,
}

/// Why somebody did not come in.
#[derive(Clone, PartialEq, Debug)]
pub enum Rejection {
    /// Their token is not accepted.
    Token(Refusal),
    /// They cannot be a guest.
    Guest(GuestRefusal),
    /// The community holds as many people as it may.
    Full,
    /// The community's own site says no.
    Site {
        /// Why, in its words.
        reason: Option<String>,
    },
    /// The community's own site does not say, and must.
    SiteAway,
    /// By a rule, or the store cannot be asked.
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
                    Code::TokenInvalid => (ErrorCode::TokenInvalid, "the token is not acceptable"),
                    Code::TokenRevoked => (ErrorCode::TokenRevoked, "the token was revoked: sign in again"),
                    Code::TokenUnverifiable => {
                        (ErrorCode::TokenUnverifiable, "the token cannot be verified now: come back later")
                    }
                };
                Self::new(code, message)
            }
            Rejection::Guest(GuestRefusal::Name(_)) => Self::new(
                ErrorCode::NameInvalid,
                "the name must have 1 to 64 characters, none of them control characters",
            ),
            Rejection::Guest(GuestRefusal::Off | GuestRefusal::NotAGuest) => {
                Self::new(ErrorCode::GuestsRefused, "this community takes no guests: show a token")
            }
            Rejection::Full => Self::new(ErrorCode::CommunityFull, "the community is full: come back later"),
            Rejection::Site { reason } => {
                let fault = Self::new(ErrorCode::RefusedBySite, "the community's site does not permit it");
                match reason {
                    Some(reason) => fault.with("reason", reason),
                    None => fault,
                }
            }
            Rejection::SiteAway => Self::new(
                ErrorCode::SiteUnavailable,
                "the community's site cannot be asked now: come back later",
            ),
            Rejection::Failure(failure) => failure.into(),
        }
    }
}

impl Messenger {
    /// Lets somebody in: their token is verified, or they become a guest, and the community learns that they are here.
    /// A rejected token is logged with the reason, which its bearer is not told.
    ///
    /// # Errors
    /// See [`Rejection`].
    pub async fn admit(&self, credentials: &Credentials) -> Result<Admitted, Rejection> {
        let directory = self.directory(&credentials.community).await?;
        let (verified, token) = self.read_credentials(&directory, credentials).await?;
        let id = person_of(&verified)?;
        let limit = directory.community.settings.limits.people_online;
        let audience = &self.inner.audience;
        let here = audience.topic_of(&credentials.community, &id).is_some();
        if !here && limit.is_some_and(|max| audience.people_online(&credentials.community) >= max as usize) {
            return Err(Rejection::Full);
        }
        self.welcome(credentials, id, verified, token).await
    }

    /// A token for a guest who has not come in yet: a new one, or the one whom the credentials' token names.
    ///
    /// # Errors
    /// [`Rejection::Token`], [`Rejection::Guest`]; [`Rejection::Failure`] without such a community.
    pub async fn welcome_guest(&self, credentials: &Credentials) -> Result<(Token, Verified), Rejection> {
        let directory = self.directory(&credentials.community).await?;
        let (verified, token) = self.read_credentials(&directory, credentials).await?;
        Ok((token.ok_or(GuestRefusal::NotAGuest)?, verified))
    }

    /// As [`Messenger::admit`], without looking at how many people are online.
    pub(crate) async fn recognise(&self, credentials: &Credentials) -> Result<Admitted, Rejection> {
        let directory = self.directory(&credentials.community).await?;
        let (verified, token) = self.read_credentials(&directory, credentials).await?;
        let id = person_of(&verified)?;
        self.welcome(credentials, id, verified, token).await
    }

    async fn read_credentials(
        &self,
        directory: &Directory,
        credentials: &Credentials,
    ) -> Result<(Verified, Option<Token>), Rejection> {
        self.verify(directory, credentials).await.inspect_err(|rejection| {
            if let Rejection::Token(refusal) = rejection {
                tracing::info!(community = %credentials.community, %refusal, "a token was refused");
            }
        })
    }

    async fn welcome(
        &self,
        credentials: &Credentials,
        id: PersonId,
        verified: Verified,
        token: Option<Token>,
    ) -> Result<Admitted, Rejection> {
        self.permit(&credentials.community, &id, Action::Connect, credentials.community.as_str()).await?;
        let person = self.meet(&credentials.community, id, profile(&verified)).await?;
        let rooms = verified.claims.rooms.as_ref();
        let rooms = rooms.map(|rooms| rooms.iter().filter_map(|room| RoomName::parse(room).ok()).collect());
        Ok(Admitted { person, rooms, verified, token })
    }

    async fn verify(
        &self,
        directory: &Directory,
        credentials: &Credentials,
    ) -> Result<(Verified, Option<Token>), Rejection> {
        let (guests, policy) = (&self.inner.entrance.guests, directory.guests());
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).expect("the system has random numbers");
        let now = seconds();
        let Some(token) = &credentials.token else {
            let community = directory.authority.community();
            let (token, _) = guests.welcome(&policy, community, credentials.name.as_deref(), entropy, now)?;
            return Ok((directory.authority.verify(&token, now).await?, Some(token)));
        };
        let verified = directory.authority.verify(token, now).await?;
        match verified.issuer {
            Issuer::HostSite => Ok((verified, None)),
            Issuer::Guests => {
                // Judged before it is renewed: the newer one is no part of what was revoked.
                self.inner.entrance.judge(&verified)?;
                let renewal = entropy.first_chunk().copied().unwrap_or_default();
                let (token, _) = guests.renew(&policy, &verified, renewal, now)?;
                Ok((directory.authority.verify(&token, now).await?, Some(token)))
            }
        }
    }

    /// Who was met a moment ago and says the same is not written again: a million who come back write nothing.
    async fn meet(
        &self,
        community: &CommunityId,
        id: PersonId,
        profile: Profile,
    ) -> Result<Arc<Person>, Failure> {
        if let Some(known) = self.inner.cache.known_person(community, &id)
            && known.profile == profile
            && now().since_ms(known.seen) < MET_MS
        {
            return Ok(known);
        }
        Ok(Arc::new(self.ask(community, By::Person(id), Meet { profile }).await?))
    }
}

fn person_of(verified: &Verified) -> Result<PersonId, Refusal> {
    PersonId::parse(&verified.claims.subject)
        .map_err(|_| Refusal::Claim { name: "sub", fault: identity::ClaimFault::Character })
}

/// What a token says of its bearer, in the words of the rules.
fn profile(verified: &Verified) -> Profile {
    let Claims { subject, name, avatar, roles, .. } = &verified.claims;
    let role =
        [Role::Owner, Role::Moderator].into_iter().find(|role| roles.iter().any(|name| name == role.name()));
    let guest = verified.issuer == Issuer::Guests;
    Profile {
        name: name.clone().unwrap_or_else(|| subject.clone()),
        // A page that came by TLS would not load another.
        avatar: avatar.clone().filter(|address| address.starts_with("https://")),
        guest,
        role: role.filter(|_| !guest),
    }
}
