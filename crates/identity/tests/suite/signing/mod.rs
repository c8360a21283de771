//! Host sites for tests: they sign tokens as any library would, and as no honest one would.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use identity::{Algorithm, Authority, Community, Key, KeySet, Refusal, Rules, Token, UnixSeconds, Verified};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use ring::{hmac, rsa};
use serde_json::{Value, json};

/// The time of the tests.
pub(crate) const NOW: UnixSeconds = UnixSeconds(1_800_000_000);
/// The community of the tests.
pub(crate) const COMMUNITY: &str = "club";
/// The secret of [`SigningKey::hs256`].
pub(crate) const SECRET: &[u8] = b"a secret that only site and server know";

/// A host site's signing key.
pub(crate) enum SigningKey {
    Hs256(hmac::Key),
    Rs256(Box<RsaKeyPair>),
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

impl SigningKey {
    pub(crate) fn hs256(secret: &[u8]) -> Self {
        SigningKey::Hs256(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// The key of RFC 7515, appendix A.2.
    pub(crate) fn rs256() -> Self {
        let [n, e, d, p, q, dp, dq, qi] = RFC7515_RSA.map(decode);
        let components = rsa::KeyPairComponents {
            public_key: rsa::PublicKeyComponents { n, e },
            d,
            p,
            q,
            dP: dp,
            dQ: dq,
            qInv: qi,
        };
        SigningKey::Rs256(Box::new(RsaKeyPair::from_components(&components).expect("the RFC's key")))
    }

    /// The key of RFC 7515, appendix A.3.
    pub(crate) fn es256() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let point = [&[4], decode(RFC7515_P256[0]).as_slice(), &decode(RFC7515_P256[1])].concat();
        let private = decode(RFC7515_P256[2]);
        let key = EcdsaKeyPair::from_private_key_and_public_key(algorithm, &private, &point, &random);
        SigningKey::Es256(key.expect("the RFC's key"))
    }

    /// The key of RFC 8037, appendix A.1.
    pub(crate) fn eddsa() -> Self {
        let key = Ed25519KeyPair::from_seed_and_public_key(&decode(RFC8037_D), &decode(RFC8037_X));
        SigningKey::EdDsa(key.expect("the RFC's key"))
    }

    /// One key of each kind.
    pub(crate) fn of(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Hs256 => Self::hs256(SECRET),
            Algorithm::Rs256 => Self::rs256(),
            Algorithm::Es256 => Self::es256(),
            Algorithm::EdDsa => Self::eddsa(),
        }
    }

    pub(crate) fn signature(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            SigningKey::Hs256(key) => hmac::sign(key, message).as_ref().to_vec(),
            SigningKey::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).expect("it signs");
                signature
            }
            SigningKey::Es256(key) => key.sign(&random, message).expect("it signs").as_ref().to_vec(),
            SigningKey::EdDsa(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    /// Signs any header and claims.
    pub(crate) fn token(&self, header: &Value, claims: &Value) -> Token {
        self.token_of_bytes(header.to_string().as_bytes(), claims.to_string().as_bytes())
    }

    pub(crate) fn token_of_bytes(&self, header: &[u8], claims: &[u8]) -> Token {
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature = encode(&self.signature(signed.as_bytes()));
        Token::new(format!("{signed}.{signature}"))
    }
}

/// The key with which a server verifies [`SigningKey::of`]: the public half from PEM, or the secret.
pub(crate) fn key(algorithm: Algorithm) -> Key {
    match (algorithm, SigningKey::of(algorithm)) {
        (Algorithm::Hs256, _) => Key::hs256(SECRET),
        (_, signing) => Key::pem(pem(&signing).as_bytes(), algorithm),
    }
    .expect("a key")
}

/// `SubjectPublicKeyInfo` in PEM, assembled from the structures of RFC 3279, RFC 5480 and RFC 8410.
pub(crate) fn pem(signing: &SigningKey) -> String {
    let der = match signing {
        SigningKey::Hs256(_) => panic!("a secret has no public half"),
        SigningKey::Rs256(key) => {
            let bits = [&[0], key.public().as_ref()].concat();
            let oid = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00".to_vec();
            element(0x30, &[oid, element(0x03, &bits)].concat())
        }
        SigningKey::Es256(key) => {
            let prefix = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
            [prefix.as_slice(), key.public_key().as_ref()].concat()
        }
        SigningKey::EdDsa(key) => {
            let prefix = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
            [prefix.as_slice(), key.public_key().as_ref()].concat()
        }
    };
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("short").to_be_bytes();
    [&[tag, 0x82, length[0], length[1]], content].concat()
}

/// The public half as a JWK with that `kid`.
pub(crate) fn jwk(algorithm: Algorithm, kid: &str) -> Value {
    match algorithm {
        Algorithm::Hs256 => json!({"kty": "oct", "kid": kid, "k": encode(SECRET)}),
        Algorithm::Rs256 => json!({"kty": "RSA", "kid": kid, "n": RFC7515_RSA[0], "e": RFC7515_RSA[1]}),
        Algorithm::Es256 => {
            json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": RFC7515_P256[0], "y": RFC7515_P256[1]})
        }
        Algorithm::EdDsa => json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": RFC8037_X}),
    }
}

/// Claims of a valid token.
pub(crate) fn good_claims() -> Value {
    json!({"sub": "ann", "aud": COMMUNITY, "exp": NOW.0 + 600, "iat": NOW.0})
}

/// The good claims with one of them changed; `null` removes it.
pub(crate) fn claims_with(name: &str, value: Value) -> Value {
    let mut claims = good_claims();
    let members = claims.as_object_mut().expect("an object");
    if value.is_null() {
        members.remove(name);
    } else {
        members.insert(name.to_owned(), value);
    }
    claims
}

/// An authority of the test community that trusts these keys.
pub(crate) fn authority(keys: Vec<Key>) -> Authority {
    Authority::new(Community::new(COMMUNITY), KeySet::new(keys).expect("a set"), Rules::default())
}

/// Verifies, for authorities whose `verify` never has to wait.
pub(crate) fn verify(authority: &Authority, token: &Token, now: UnixSeconds) -> Result<Verified, Refusal> {
    block_on(authority.verify(token, now))
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn decode(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).expect("base64url")
}

/// n, e, d, p, q, dp, dq, qi of RFC 7515, appendix A.2.1.
pub(crate) const RFC7515_RSA: [&str; 8] = [
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
    "AQAB",
    "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
    "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
    "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
    "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
    "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
    "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
];
/// x, y, d of RFC 7515, appendix A.3.1.
pub(crate) const RFC7515_P256: [&str; 3] = [
    "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
];
const RFC8037_X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const RFC8037_D: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
