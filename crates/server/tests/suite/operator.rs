//! The operator's commands, as a calling program sees them: their output, and their exit codes.

use crate::throng::{Throng, command};
use std::path::Path;
use std::process::Output;

/// Runs a command against the administration listener of a server.
fn ask(server: &Throng, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().expect("a folder");
    let admin = format!("http://{}", server.admin);
    let mut command = command(home.path());
    command.args(arguments).args(["--admin", &admin]);
    command.arg("--token-file").arg(server.data_dir().join("admin-token"));
    command.output().expect("the binary starts")
}

#[test]
fn an_export_that_is_refused_writes_nothing_but_why() {
    let server = Throng::start(&[]);
    for arguments in [&["community", "export", "nowhere"][..], &["person", "export", "default", "nobody"]] {
        let refused = ask(&server, arguments);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0), "{refused:?}");
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert!(errors.contains("(not_found)"), "{errors}");
    }
    let whole = ask(&server, &["community", "export", "default"]);
    assert!(whole.status.success(), "{whole:?}");
    let lines = String::from_utf8(whole.stdout).expect("text");
    assert!(lines.lines().count() > 1 && !lines.contains("\"end\""), "{lines}");
}

#[test]
fn nothing_is_imported_beside_a_running_server_also_where_its_administration_is_off() {
    let server = Throng::start(&[]);
    let (folder, home) = (server.data_dir(), tempfile::tempdir().expect("a folder"));
    let export = home.path().join("export.ndjson");
    let store = |wanted: &str, data_dir: &Path| {
        let mut command = command(home.path());
        command.args(["store", wanted]).arg(&export).args(["--admin-listen", "off", "--data-dir"]);
        command.arg(data_dir).output().expect("the binary starts")
    };
    assert!(store("export", &folder).status.success());
    let refused = store("import", &folder);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("stop it first") && errors.contains(&*folder.to_string_lossy()), "{errors}");
    let elsewhere = store("import", &home.path().join("new"));
    assert!(elsewhere.status.success(), "{elsewhere:?}");
}
