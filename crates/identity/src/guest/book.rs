//! Signs guests' tokens.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::{digest, hmac};

use super::{GuestPolicy, GuestRefusal};
use crate::authority::{Community, Verified};
use crate::keys::{Issuer, Key};
use crate::token::{Algorithm, Claims, GUEST_PREFIX, Token, UnixSeconds, encode_part};

/// Domain separation label for deriving guest keys, so that the secret may also serve other purposes.
const PURPOSE: &[u8] = b"throng guest token v1\0";
/// Characters of a guest's id that serve as the name of a guest who chose none.
const SHORT_ID_CHARS: usize = 5;

/// A secret of this server, from which the guest key of each community is derived.
#[derive(Clone)]
pub struct GuestSecret {
    bytes: [u8; 32],
    not_after: Option<UnixSeconds>,
}

impl GuestSecret {
    /// A secret of 32 random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        GuestSecret { bytes, not_after: None }
    }

    /// Sets the last second in which tokens signed with it are accepted.
    #[must_use]
    pub fn until(mut self, not_after: UnixSeconds) -> Self {
        self.not_after = Some(not_after);
        self
    }

    /// The `kid` of tokens signed with it; reveals nothing about the secret.
    fn kid(&self) -> String {
        let hash = digest::digest(&digest::SHA256, &[PURPOSE, &self.bytes].concat());
        format!("throng.guest.{}", URL_SAFE_NO_PAD.encode(&hash.as_ref()[..9]))
    }

    fn derived(&self, community: &Community) -> hmac::Tag {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.bytes);
        hmac::sign(&key, &[PURPOSE, community.as_str().as_bytes()].concat())
    }

    fn key(&self, community: &Community) -> Key {
        let key = Key::hs256(self.derived(community).as_ref()).expect("a tag has 32 bytes");
        let key = key.with_kid(self.kid()).expect("the id is short and plain").for_guests();
        match self.not_after {
            Some(not_after) => key.until(not_after),
            None => key,
        }
    }
}

impl fmt::Debug for GuestSecret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("GuestSecret").field("kid", &self.kid()).finish_non_exhaustive()
    }
}

/// Signs guests' tokens.
#[derive(Clone, Debug)]
pub struct GuestSigner {
    newest: GuestSecret,
    older: Vec<GuestSecret>,
    lifetime: Duration,
}

impl GuestSigner {
    /// Signs with `newest`, still accepts `older`; tokens last for `lifetime`, which must not be longer than
    /// [`crate::Rules::lifetime_max`].
    pub fn new(newest: GuestSecret, older: Vec<GuestSecret>, lifetime: Duration) -> Self {
        GuestSigner { newest, older, lifetime }
    }

    /// The keys that verify guests of a community, for its [`crate::KeySet`].
    pub fn keys(&self, community: &Community) -> Vec<Key> {
        std::iter::once(&self.newest).chain(&self.older).map(|secret| secret.key(community)).collect()
    }

    /// Admits a new guest: signs a token with a fresh id made from `entropy`.
    ///
    /// # Errors
    /// [`GuestRefusal`].
    pub fn welcome(
        &self,
        policy: &GuestPolicy,
        community: &Community,
        chosen_name: Option<&str>,
        entropy: [u8; 32],
        now: UnixSeconds,
    ) -> Result<(Token, Claims), GuestRefusal> {
        let names = match policy {
            GuestPolicy::Off => return Err(GuestRefusal::Off),
            GuestPolicy::On { names } => names,
        };
        let (id, token_id) = entropy.split_at(16);
        let id = URL_SAFE_NO_PAD.encode(id);
        let chosen = chosen_name.map(str::trim).filter(|name| !name.is_empty());
        let name = names.name(chosen.unwrap_or(&id[..SHORT_ID_CHARS]));
        self.sign(community, format!("{GUEST_PREFIX}{id}"), Some(name), token_id, now)
    }

    /// Signs a newer token for a guest whose token was verified, for the same person.
    ///
    /// # Errors
    /// [`GuestRefusal::Off`] if the policy has changed, [`GuestRefusal::NotAGuest`].
    pub fn renew(
        &self,
        policy: &GuestPolicy,
        guest: &Verified,
        entropy: [u8; 16],
        now: UnixSeconds,
    ) -> Result<(Token, Claims), GuestRefusal> {
        match (policy, guest.issuer) {
            (GuestPolicy::Off, _) => Err(GuestRefusal::Off),
            (GuestPolicy::On { .. }, Issuer::HostSite) => Err(GuestRefusal::NotAGuest),
            (GuestPolicy::On { .. }, Issuer::Guests) => {
                let Claims { subject, name, .. } = guest.claims.clone();
                self.sign(&guest.community, subject, name, &entropy, now)
            }
        }
    }

    fn sign(
        &self,
        community: &Community,
        subject: String,
        name: Option<String>,
        token_id: &[u8],
        now: UnixSeconds,
    ) -> Result<(Token, Claims), GuestRefusal> {
        let claims = Claims {
            subject,
            audiences: vec![community.as_str().to_owned()],
            expires: now.plus(self.lifetime),
            not_before: None,
            issued: Some(now),
            token_id: Some(URL_SAFE_NO_PAD.encode(token_id)),
            name,
            avatar: None,
            roles: Vec::new(),
            rooms: None,
        };
        // Sign only what can be parsed again, including names and their bounds.
        let written = claims.write();
        let claims = Claims::read(&written).map_err(GuestRefusal::Name)?;
        let header =
            serde_json::json!({"alg": Algorithm::Hs256.name(), "typ": "JWT", "kid": self.newest.kid()});
        let signed = format!("{}.{}", encode_part(header.to_string().as_bytes()), encode_part(&written));
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.newest.derived(community).as_ref());
        let signature = encode_part(hmac::sign(&key, signed.as_bytes()).as_ref());
        Ok((Token::new(format!("{signed}.{signature}")), claims))
    }
}
