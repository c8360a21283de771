//! A chat room: a message sent to `rooms:NAME` reaches everyone in it.
//!
//! `cargo run --example lobby`, then from a page or from Node with the npm `phoenix` package:
//!
//! ```js
//! const socket = new Socket("ws://127.0.0.1:4000/socket");
//! socket.connect();
//! const room = socket.channel("rooms:lobby", { name: "ann" });
//! room.on("new_msg", (message) => console.log(message));
//! room.join().receive("ok", () => room.push("new_msg", { body: "hello" }));
//! ```
#![allow(clippy::print_stdout, reason = "a program tells its user where it listens")]

use gateway::{Channel, Context, Gateway, Joining, Mount, OriginRule, Payload};

struct Room;

impl Channel for Room {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "new_msg" => cx.broadcast("new_msg", payload),
            _ => cx.reply_error(serde_json::json!({ "reason": "unknown event" })),
        }
    }
}

fn main() -> Result<(), gateway::StartError> {
    let socket = Mount::channels("/socket").origins(OriginRule::Any).channel("rooms:*", || Room);
    let running = Gateway::builder().listen(([127, 0, 0, 1], 4000)).mount(socket).start()?;
    println!("listening on {}", running.local_addresses()[0]);
    running.wait();
    Ok(())
}
