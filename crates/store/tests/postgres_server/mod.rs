//! A private PostgreSQL server, in a temporary folder.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The user `nobody` of every Debian system, because PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Where Debian installs PostgreSQL's programs.
const FOLDERS: [&str; 4] =
    ["/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin", "/usr/bin"];

/// A running server; stopped when dropped.
pub(crate) struct PostgresServer {
    folder: tempfile::TempDir,
    port: u16,
    process: Child,
}

impl PostgresServer {
    /// Starts one on a free port of 127.0.0.1.
    pub(crate) fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts one that only accepts encrypted connections.
    #[allow(dead_code, reason = "only some tests need it")]
    pub(crate) fn start_encrypted(certificate: &Path, key: &Path) -> Self {
        Self::start_with(Some((certificate, key)))
    }

    fn start_with(encryption: Option<(&Path, &Path)>) -> Self {
        let folder =
            tempfile::Builder::new().prefix("throng-postgres").tempdir().expect("a folder can be made");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("it is ours");
        if is_root() {
            chown(&data, Some(NOBODY), Some(NOBODY)).expect("root may");
        }
        let made = as_somebody("initdb")
            .args([
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--username=throng",
                "--no-sync",
                "--pgdata",
            ])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(made.is_ok_and(|status| status.success()), "initdb failed: see above");
        if let Some((certificate, key)) = encryption {
            encrypt(&data, certificate, key);
        }
        let port = free_port();
        let process = start(&data, port);
        let server = Self { folder, port, process };
        server.wait();
        server
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("postgres://throng@127.0.0.1:{}/postgres", self.port)
    }

    /// Kills it, as if its machine failed.
    #[allow(dead_code, reason = "only some tests need it")]
    pub(crate) fn kill(&mut self) {
        // SIGQUIT is PostgreSQL's immediate shutdown: all of its processes end at once and write nothing more.
        let pid = self.process.id().to_string();
        let killed = Command::new("kill").args(["-QUIT", &pid]).status();
        assert!(killed.is_ok_and(|status| status.success()), "the server was there");
        self.process.wait().expect("it is our child");
    }

    /// Starts it again, with its existing data.
    #[allow(dead_code, reason = "only some tests need it")]
    pub(crate) fn start_again(&mut self) {
        self.process = start(&self.folder.path().join("data"), self.port);
        self.wait();
    }

    fn wait(&self) {
        let begun = Instant::now();
        while let Err(error) = postgres::Client::connect(&self.url(), postgres::NoTls) {
            // It is up, and requires TLS.
            if error.code() == Some(&postgres::error::SqlState::INVALID_AUTHORIZATION_SPECIFICATION) {
                return;
            }
            assert!(begun.elapsed() < START_TIMEOUT, "PostgreSQL does not answer: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let pid = self.process.id().to_string();
        // It may have been killed already; then there is nothing to stop.
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        let _ = self.process.wait();
    }
}

fn start(data: &Path, port: u16) -> Child {
    let log = fs::File::create(data.with_extension("log")).expect("the folder is ours");
    as_somebody("postgres")
        .arg("-D")
        .arg(data)
        .args([
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "unix_socket_directories=",
            "-c",
            "max_connections=50",
        ])
        .args(["-p", &port.to_string()])
        .stdout(log.try_clone().expect("a file can be shared"))
        .stderr(log)
        .spawn()
        .expect("PostgreSQL starts")
}

fn encrypt(data: &Path, certificate: &Path, key: &Path) {
    for (from, name) in [(certificate, "server.crt"), (key, "server.key")] {
        let to = data.join(name);
        fs::copy(from, &to).expect("it is ours");
        fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("it is ours");
        if is_root() {
            chown(&to, Some(NOBODY), Some(NOBODY)).expect("root may");
        }
    }
    let settings = data.join("postgresql.auto.conf");
    fs::write(settings, "ssl = on\n").expect("it is ours");
    fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").expect("it is ours");
}

fn as_somebody(program: &str) -> Command {
    let mut command = Command::new(find(program));
    command.stdin(Stdio::null()).current_dir("/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn find(program: &str) -> PathBuf {
    let found = FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists());
    found
        .unwrap_or_else(|| panic!("{program} is missing: `make deps` installs Debian's package `postgresql`"))
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// A free port that is handed out only once. It is below Linux's range for outgoing connections, one of which might
/// otherwise take the server's port between two starts.
fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    loop {
        let next = std::process::id().wrapping_mul(61).wrapping_add(GIVEN.fetch_add(1, Relaxed));
        let port = 10_000 + u16::try_from(next % 22_000).expect("it is small");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
