//! A token's claims about its bearer.

use serde::Deserialize;
use serde_json::Value;

use super::field;
use super::{
    AUDIENCE_BYTES_MAX, AUDIENCES_MAX, AVATAR_BYTES_MAX, ClaimFault, ID_BYTES_MAX, LABEL_BYTES_MAX,
    NAME_BYTES_MAX, Part, ROLES_MAX, ROOMS_MAX, Refusal, SUBJECT_BYTES_MAX, UnixSeconds,
};

/// Prefix of guests' ids, so that no host site's person can be mistaken for a guest, or the reverse.
pub const GUEST_PREFIX: &str = "guest:";

/// The claims (RFC 7519, section 4), each of the right type and within its bounds. Whether they are valid now and here
/// is checked by [`crate::Rules::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// `sub`: the person's id at the host site, the same for all their devices. Visible ASCII without `/`, `"` and `\`,
    /// not beginning with `~`.
    pub subject: String,
    /// `aud`: the communities it is for.
    pub audiences: Vec<String>,
    /// `exp`: when it expires.
    pub expires: UnixSeconds,
    /// `nbf`: when it becomes valid.
    pub not_before: Option<UnixSeconds>,
    /// `iat`: when it was issued.
    pub issued: Option<UnixSeconds>,
    /// `jti`: the id by which this single token may be revoked.
    pub token_id: Option<String>,
    /// `name`: the display name.
    pub name: Option<String>,
    /// `avatar`: URL of a picture, beginning with `https://`.
    pub avatar: Option<String>,
    /// `roles`: the person's roles at the host site.
    pub roles: Vec<String>,
    /// `rooms`: the only rooms that the token is valid for. Without the claim it is valid for all that its person may
    /// see; an empty list permits none.
    pub rooms: Option<Vec<String>>,
}

/// The claims as serialized. Known members must not repeat; others are ignored (RFC 7519, section 4).
#[derive(Deserialize)]
struct Written {
    sub: Option<Value>,
    aud: Option<Value>,
    exp: Option<Value>,
    nbf: Option<Value>,
    iat: Option<Value>,
    jti: Option<Value>,
    name: Option<Value>,
    avatar: Option<Value>,
    roles: Option<Value>,
    rooms: Option<Value>,
}

impl Claims {
    /// Parses the JSON of a token's second part.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] and [`Refusal::Claim`].
    pub fn read(json: &[u8]) -> Result<Self, Refusal> {
        let written: Written = field::object(json).ok_or(Refusal::Malformed {
            part: Part::Claims,
            why: "not a JSON object, or a known member occurs twice",
        })?;
        let seconds =
            |value: Option<Value>, name| value.map(|value| field::seconds(&value, name)).transpose();
        Ok(Claims {
            subject: field::subject(&required(written.sub, "sub")?, "sub", SUBJECT_BYTES_MAX)?,
            audiences: audiences(&required(written.aud, "aud")?)?,
            expires: field::seconds(&required(written.exp, "exp")?, "exp")?,
            not_before: seconds(written.nbf, "nbf")?,
            issued: seconds(written.iat, "iat")?,
            token_id: written.jti.map(|value| field::text(&value, "jti", ID_BYTES_MAX)).transpose()?,
            name: written.name.map(|value| field::text(&value, "name", NAME_BYTES_MAX)).transpose()?,
            avatar: written
                .avatar
                .map(|value| field::address(&value, "avatar", AVATAR_BYTES_MAX))
                .transpose()?,
            roles: labels(written.roles, "roles", ROLES_MAX)?.unwrap_or_default(),
            rooms: labels(written.rooms, "rooms", ROOMS_MAX)?,
        })
    }

    /// Serializes the claims to the JSON of a token's second part, which [`Claims::read`] parses back.
    pub fn write(&self) -> Vec<u8> {
        let mut members = serde_json::Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(name.to_owned(), value);
            }
        };
        put("sub", Some(self.subject.as_str().into()));
        put("aud", Some(self.audiences.clone().into()));
        put("exp", Some(self.expires.0.into()));
        put("nbf", self.not_before.map(|at| at.0.into()));
        put("iat", self.issued.map(|at| at.0.into()));
        put("jti", self.token_id.clone().map(Value::from));
        put("name", self.name.clone().map(Value::from));
        put("avatar", self.avatar.clone().map(Value::from));
        put("roles", (!self.roles.is_empty()).then(|| self.roles.clone().into()));
        put("rooms", self.rooms.clone().map(Value::from));
        Value::Object(members).to_string().into_bytes()
    }
}

/// RFC 7519, section 4.1.3: one audience as a string, or several as an array.
fn audiences(value: &Value) -> Result<Vec<String>, Refusal> {
    if value.is_string() {
        return field::text(value, "aud", AUDIENCE_BYTES_MAX).map(|audience| vec![audience]);
    }
    field::texts(value, "aud", AUDIENCES_MAX, AUDIENCE_BYTES_MAX)
}

fn labels(
    value: Option<Value>,
    name: &'static str,
    entries_max: usize,
) -> Result<Option<Vec<String>>, Refusal> {
    value.map(|value| field::texts(&value, name, entries_max, LABEL_BYTES_MAX)).transpose()
}

fn required(value: Option<Value>, name: &'static str) -> Result<Value, Refusal> {
    value.ok_or_else(|| Refusal::claim(name, ClaimFault::Missing))
}
