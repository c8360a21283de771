//! A server that claims to be some version of Redis, and can do nothing else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

pub(crate) struct FakeRedis {
    port: u16,
}

impl FakeRedis {
    /// Runs as long as the test program.
    pub(crate) fn start(version: &'static str) -> FakeRedis {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream, version));
            }
        });
        FakeRedis { port }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

fn answer(stream: TcpStream, version: &str) {
    let mut reader = BufReader::new(stream);
    while let Some(words) = command(&mut reader) {
        let info = format!("redis_version:{version}\r\nrun_id:1\r\n");
        let answer = match words[0].to_uppercase().as_str() {
            "HELLO" => format!("%1\r\n$7\r\nversion\r\n${}\r\n{version}\r\n", version.len()),
            "INFO" => format!("${}\r\n{info}\r\n", info.len()),
            "CLIENT" => "+OK\r\n".to_owned(),
            _ => "-ERR unknown command\r\n".to_owned(),
        };
        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn command(reader: &mut BufReader<TcpStream>) -> Option<Vec<String>> {
    let count = number(reader)?;
    (0..count).map(|_| word(reader)).collect()
}

fn word(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut bytes = vec![0; number(reader)? + 2];
    reader.read_exact(&mut bytes).ok()?;
    bytes.truncate(bytes.len() - 2);
    String::from_utf8(bytes).ok()
}

fn number(reader: &mut BufReader<TcpStream>) -> Option<usize> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.trim_end().get(1..)?.parse().ok()
}
