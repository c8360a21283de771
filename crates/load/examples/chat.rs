//! Runs the chat client alone: `cargo run -p load --example chat -- URL [NAME]`.

use load::chat;

fn main() -> Result<(), chat::ChatError> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_default();
    chat::run(chat::Options { url, name: arguments.next(), ..chat::Options::default() })
}
