//! The site whose people a server lets in by tokens.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};

use crate::Throng;

const COMMUNITY: &str = "default";
const SECRET: &str = "a secret that the site and the server share";

/// See the module.
pub struct HostSite(());

impl HostSite {
    /// A site that this server trusts from now on.
    #[must_use]
    pub fn of(throng: &Throng) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let file = folder.path().join("secret");
        fs::write(&file, SECRET).expect("it is ours");
        let file = file.to_str().expect("its name is text");
        throng.operate(&[
            "key",
            "trust",
            COMMUNITY,
            "--name",
            "site",
            "--algorithm",
            "HS256",
            "--file",
            file,
        ]);
        Self(())
    }

    /// A token with which somebody of this name comes in, for an hour.
    #[must_use]
    pub fn token(&self, name: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970").as_secs();
        let claims = json!({"sub": name.to_lowercase(), "name": name, "aud": COMMUNITY, "exp": now + 3_600});
        let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let signed = format!("{}.{}", part(&json!({"alg": "HS256", "typ": "JWT"})), part(&claims));
        let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes())))
    }
}
