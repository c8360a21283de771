//! Runs the programs of docs/identity.md exactly as printed there, and checks that they work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::signing::{authority, verify};
use identity::{Algorithm, Key, SigningSecret, SigningSecrets, Token, UnixSeconds, sign};

const SECRET: &str = "a secret of thirty-two bytes, or more";

/// Writes the program whose first line is a comment with this name to its own folder.
fn program(name: &str, folder: &Path) -> PathBuf {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/identity.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let blocks = page.split("\n```").skip(1).step_by(2);
    let is_named = |block: &&str| {
        let first = block.lines().nth(1).unwrap_or_default();
        first.trim_start_matches(['/', '#', ' ']) == name
    };
    let block = blocks.into_iter().find(is_named).unwrap_or_else(|| panic!("{name} is not on the page"));
    let (_, code) = block.split_once('\n').expect("a block has lines");
    let path = folder.join(name);
    fs::write(&path, code).expect("a file");
    path
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// `follows` is the reader's own code, which calls the program.
fn node(folder: &Path, name: &str, follows: &str) -> Command {
    let program = fs::read_to_string(program(name, folder)).expect("it was written");
    let path = folder.join("main.mjs");
    fs::write(&path, format!("{program}\n{follows}\n")).expect("a file");
    let mut command = Command::new("node");
    command.arg(path);
    command
}

fn python(folder: &Path, name: &str, follows: &str) -> Command {
    let program = fs::read_to_string(program(name, folder)).expect("it was written");
    let path = folder.join("main.py");
    fs::write(&path, format!("{program}\n{follows}\n")).expect("a file");
    let mut command = Command::new("python3");
    command.arg("-B").arg(path);
    command
}

fn now() -> UnixSeconds {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    UnixSeconds(since.as_secs())
}

fn is_believed(token: String, key: Key) {
    let authority = authority(vec![key.with_kid("2026-11").expect("a kid")]);
    let verified = verify(&authority, &Token::new(token), now()).expect("the page's token is good");
    assert_eq!((verified.claims.subject.as_str(), verified.claims.name.as_deref()), ("ann", Some("Ann Ä")));
}

#[test]
fn tokens_that_node_signs_with_a_secret_are_believed() {
    let follows = r#"console.log(tokenFor({ id: "ann", name: "Ann Ä" }, "club"));"#;
    let token = output(node(&folder("node-secret"), "token.mjs", follows).env("THRONG_SECRET", SECRET));
    is_believed(token, Key::hs256(SECRET.as_bytes()).expect("a secret"));
}

#[test]
fn tokens_that_python_signs_with_a_secret_are_believed() {
    let follows = r#"print(token_for("ann", "Ann Ä", "club"))"#;
    let token =
        output(python(&folder("python-secret"), "token_for.py", follows).env("THRONG_SECRET", SECRET));
    is_believed(token, Key::hs256(SECRET.as_bytes()).expect("a secret"));
}

#[test]
fn tokens_that_node_signs_with_a_private_key_are_believed() {
    let pair = r#"
        const { privateKey, publicKey } = require("node:crypto").generateKeyPairSync("ed25519");
        console.log(privateKey.export({ type: "pkcs8", format: "pem" }) + publicKey.export({ type: "spki", format: "pem" }));
    "#;
    let pair = output(Command::new("node").args(["-e", pair]));
    let (private, public) = pair.split_at(pair.find("-----BEGIN PUBLIC").expect("a public key"));
    let follows = r#"console.log(tokenFor({ id: "ann", name: "Ann Ä" }, "club"));"#;
    let token =
        output(node(&folder("node-pair"), "token-eddsa.mjs", follows).env("THRONG_PRIVATE_KEY", private));
    is_believed(token, Key::pem(public.as_bytes(), Algorithm::EdDsa).expect("a public key"));
}

/// Requests signed by two secrets, as during rotation; then with a changed body, with another secret, and outdated.
fn requests() -> [([String; 3], &'static str, String, bool); 4] {
    let (ours, other) = (SigningSecret::mint([1; 32]), SigningSecret::mint([2; 32]));
    let body = r#"{"type":"msg:new","text":"Ä"}"#;
    let at = |at| {
        sign(&SigningSecrets::new(other.clone(), vec![ours.clone()]), "msg_1", at, body.as_bytes())
            .map(|(_, value)| value)
    };
    [
        (at(now()), body, ours.expose(), true),
        (at(now()), r#"{"type":"msg:new","text":"B"}"#, ours.expose(), false),
        (at(now()), body, SigningSecret::mint([3; 32]).expose(), false),
        (at(UnixSeconds(now().0 - 400)), body, ours.expose(), false),
    ]
}

#[test]
fn requests_are_verified_in_node_and_in_python() {
    let in_node = r#"
        const [id, timestamp, signature, body, secret] = process.argv.slice(2);
        const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
        console.log(isOurs(headers, body, secret));
    "#;
    let in_python = r#"
import sys

id, timestamp, signature, body, secret = sys.argv[1:]
headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
print(str(is_ours(headers, body.encode(), secret)).lower())
"#;
    for (headers, body, secret, is_ours) in requests() {
        let folder = folder("requests");
        for mut command in [node(&folder, "verify.mjs", in_node), python(&folder, "verify.py", in_python)] {
            let said = output(command.args(&headers).args([body, &secret]));
            assert_eq!(said, is_ours.to_string(), "{command:?}");
        }
    }
}
