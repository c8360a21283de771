//! A PostgreSQL server that only accepts encrypted connections.

use crate::postgres_server::PostgresServer;
use chat::verbs::CreateCommunity;
use chat::*;
use rcgen::{CertificateParams, KeyPair};
use std::fs;
use std::path::{Path, PathBuf};
use store::{OpenError, PostgresOptions, PostgresStore};

/// A self-signed certificate for that name.
fn certificate(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    let paths = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    fs::write(&paths.0, certificate).expect("a file");
    fs::write(&paths.1, key.serialize_pem()).expect("a file");
    paths
}

fn options(url: &str, authority: Option<&Path>) -> PostgresOptions {
    PostgresOptions { certificate_authority: authority.map(Path::to_owned), ..PostgresOptions::new(url) }
}

/// Opening fails, by the client's check or by the server's refusal, with these words in the error.
fn is_refused(options: PostgresOptions, words: &str) {
    let why = match PostgresStore::open(options) {
        Err(OpenError::StoreError(trouble)) if trouble.kind == StoreErrorKind::Away => trouble.to_string(),
        Err(other) => panic!("it is {other:?}"),
        Ok(_) => panic!("it opened"),
    };
    assert!(why.contains(words), "{why}");
}

#[test]
fn who_asks_for_tls_gets_it_and_whoever_the_server_is_not_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (authority, key) = certificate(folder.path(), "localhost");
    let server = PostgresServer::start_encrypted(&authority, &key);
    let by_name = server.url().replace("127.0.0.1", "localhost");

    for mode in ["require", "verify-full"] {
        let url = format!("{by_name}?sslmode={mode}");
        let store = PostgresStore::open(options(&url, Some(&authority))).expect("both speak TLS");
        let call = Call {
            community: CommunityId::parse(mode).expect("it is a name"),
            by: By::Service,
            now: Moment::from_millis(1_700_000_000_000),
            entropy: Entropy([0; 16]),
        };
        store.ask(call.ask(CreateCommunity { settings: Settings::named("Acme") })).expect("it is new");
    }

    let required = format!("{by_name}?sslmode=require");
    is_refused(options(&required, None), "certificate");
    let (other, _) = certificate(folder.path(), "other");
    is_refused(options(&required, Some(&other)), "certificate");
    let by_address = format!("{}?sslmode=require", server.url());
    is_refused(options(&by_address, Some(&authority)), "certificate");
    let missing = folder.path().join("missing.pem");
    is_refused(options(&required, Some(&missing)), "contains no valid PEM certificates");
    // A client that does not use TLS is not admitted by this server.
    is_refused(options(&by_name, None), "no encryption");
}

#[test]
fn a_server_without_tls_is_refused_to_who_asks_for_it() {
    let server = PostgresServer::start();
    let url = format!("{}?sslmode=require", server.url());
    is_refused(options(&url, None), "TLS");
}
