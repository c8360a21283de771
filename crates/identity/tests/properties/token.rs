//! Properties of every untrusted token. Shared by the fuzz target and the replay of its corpus.

use super::token::{
    AUDIENCE_BYTES_MAX, AUDIENCES_MAX, AVATAR_BYTES_MAX, Claims, ID_BYTES_MAX, LABEL_BYTES_MAX,
    NAME_BYTES_MAX, Presented, ROLES_MAX, ROOMS_MAX, Refusal, SUBJECT_BYTES_MAX, TOKEN_BYTES_MAX,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The first byte selects what the rest is: a token, a token's header and claims separated by a newline (so that a
/// fuzzer need not discover base64), or claims.
pub(crate) fn what_is_read_is_within_bounds(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    match kind % 3 {
        0 => token(&String::from_utf8_lossy(rest)),
        1 => {
            let (header, body) =
                rest.split_at(rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()));
            let body = body.strip_prefix(b"\n").unwrap_or(body);
            let [header, body] = [header, body].map(|part| URL_SAFE_NO_PAD.encode(part));
            token(&format!("{header}.{body}.{}", URL_SAFE_NO_PAD.encode(b"signature")));
        }
        _ => {
            let _ = judge(Claims::read(rest)).inspect(claims);
        }
    }
}

fn token(text: &str) {
    let Ok(presented) = judge(Presented::read(text)) else { return };
    assert!(text.len() <= TOKEN_BYTES_MAX);
    assert!(presented.kid.as_ref().is_none_or(|kid| kid.len() <= ID_BYTES_MAX));
    let signed = std::str::from_utf8(presented.signed).expect("a part of the text");
    let again = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(&presented.signature));
    assert_eq!(text, again, "a token has one spelling");
    let _ = judge(presented.claims()).inspect(claims);
}

fn claims(claims: &Claims) {
    assert!((1..=SUBJECT_BYTES_MAX).contains(&claims.subject.len()));
    assert!(claims.audiences.len() <= AUDIENCES_MAX);
    assert!(claims.audiences.iter().all(|audience| audience.len() <= AUDIENCE_BYTES_MAX));
    assert!(claims.token_id.as_ref().is_none_or(|id| id.len() <= ID_BYTES_MAX));
    assert!(claims.name.as_ref().is_none_or(|name| name.len() <= NAME_BYTES_MAX));
    assert!(claims.avatar.as_ref().is_none_or(|avatar| avatar.len() <= AVATAR_BYTES_MAX));
    let rooms = claims.rooms.as_deref().unwrap_or_default();
    assert!(claims.roles.len() <= ROLES_MAX && rooms.len() <= ROOMS_MAX);
    assert!(claims.roles.iter().chain(rooms).all(|label| label.len() <= LABEL_BYTES_MAX));
    let texts = [&claims.subject].into_iter().chain(&claims.name).chain(&claims.avatar).chain(&claims.roles);
    for text in texts.chain(rooms).chain(&claims.audiences).chain(&claims.token_id) {
        assert!(!text.is_empty() && !text.chars().any(char::is_control));
    }
    assert_eq!(Claims::read(&claims.write()).as_ref(), Ok(claims), "what was read can be written");
}

/// A refusal is one short line for a log.
fn judge<T>(read: Result<T, Refusal>) -> Result<T, Refusal> {
    read.inspect_err(|refusal| {
        let line = refusal.to_string();
        assert!(line.len() < 1000 && !line.chars().any(char::is_control), "{line:?}");
    })
}
