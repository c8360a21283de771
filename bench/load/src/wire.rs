//! The bytes of the exchange, for both sides: what the driver sends, and what the floor answers without looking.
//!
//! Frames are those of RFC 6455 (section 5.2), messages those of Phoenix V1 or NATS. A client's frames are masked with
//! a fixed key: a server has to unmask whatever the key is, and there is no intermediary to protect here.

/// The event that the driver publishes and waits for.
pub const BROADCAST_EVENT: &str = "new_msg";

/// Payload length of an echo in bytes.
pub const ECHO_BYTES: usize = 64;

/// The topic in broadcasts of servers that have no topics.
pub const PLAIN_TOPIC: &str = "rooms:lobby";

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ=="; // from RFC 6455, section 1.3
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const FIN_TEXT: u8 = 0x81;

/// Returns a client's upgrade request for `path`; without `vsn`, Phoenix uses V1.
pub fn request_head(path: &str, host: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    .into_bytes()
}

/// Returns the V1 message that joins `topic`.
pub fn join(topic: &str) -> String {
    format!(r#"{{"topic":"{topic}","event":"phx_join","payload":{{}},"ref":"1"}}"#)
}

/// Returns the V1 message that joins `topic`, from this position (epoch and offset) if given.
pub fn recovering_join(topic: &str, from: Option<(&str, u64)>) -> String {
    let Some((epoch, offset)) = from else { return join(topic) };
    format!(
        r#"{{"topic":"{topic}","event":"phx_join","payload":{{"recover":{{"epoch":"{epoch}","offset":{offset}}}}},"ref":"1"}}"#
    )
}

/// Returns the reply that accepts [`join`].
pub fn join_reply(topic: &str) -> String {
    reply(topic, "1", "{}")
}

/// Returns the V1 message that publishes to everyone on `topic`.
pub fn publication(topic: &str) -> String {
    let payload = publication_payload();
    format!(r#"{{"topic":"{topic}","event":"{BROADCAST_EVENT}","payload":{payload},"ref":"2"}}"#)
}

/// Returns what each member of `topic` receives of [`publication`].
pub fn broadcast(topic: &str) -> String {
    let payload = publication_payload();
    format!(r#"{{"topic":"{topic}","event":"{BROADCAST_EVENT}","payload":{payload},"ref":null}}"#)
}

/// Returns the first data of a NATS client: it disables acknowledgements, subscribes to this subject, and sends a ping
/// whose answer confirms that everything was processed.
pub fn nats_subscription(subject: &str) -> String {
    format!(
        "CONNECT {{\"verbose\":false,\"pedantic\":false,\"lang\":\"rust\"}}\r\nSUB {subject} 1\r\nPING\r\n"
    )
}

/// Returns the NATS message that publishes `text` to all subscribers of `subject`.
pub fn nats_publication(subject: &str, text: &str) -> String {
    format!("PUB {subject} {}\r\n{text}\r\n", text.len())
}

/// Returns the payload that an echo mount sends back.
pub fn echo() -> String {
    "0123456789abcdef".repeat(ECHO_BYTES / 16)
}

/// Returns the V1 message that asks a channel to reply with its own payload.
pub fn channel_echo(topic: &str) -> String {
    format!(r#"{{"topic":"{topic}","event":"echo","payload":{},"ref":"2"}}"#, channel_echo_payload())
}

/// Returns the reply to [`channel_echo`].
pub fn channel_echo_reply(topic: &str) -> String {
    reply(topic, "2", &channel_echo_payload())
}

/// Encodes one masked text frame, as a client sends it.
pub fn client_frame(text: &str) -> Vec<u8> {
    let mut frame = frame_head(text.len(), 0x80);
    frame.extend(MASK);
    frame.extend(text.bytes().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// Encodes one text frame, as a server sends it.
pub fn server_frame(text: &str) -> Vec<u8> {
    let mut frame = frame_head(text.len(), 0);
    frame.extend(text.bytes());
    frame
}

fn frame_head(length: usize, mask_bit: u8) -> Vec<u8> {
    if length < 126 {
        return vec![FIN_TEXT, mask_bit | length as u8];
    }
    let length = u16::try_from(length).expect("the messages of a benchmark are short");
    let [high, low] = length.to_be_bytes();
    vec![FIN_TEXT, mask_bit | 126, high, low]
}

fn reply(topic: &str, reference: &str, response: &str) -> String {
    format!(
        r#"{{"topic":"{topic}","event":"phx_reply","ref":"{reference}","payload":{{"status":"ok","response":{response}}}}}"#
    )
}

fn publication_payload() -> String {
    r#"{"user":"bench","body":"The quick brown fox jumps over the lazy dog"}"#.to_owned()
}

fn channel_echo_payload() -> String {
    format!(r#"{{"body":"{}"}}"#, echo())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_frame_unmasks_to_its_text() {
        let frame = client_frame("hello");
        let unmasked: Vec<u8> = frame[6..].iter().zip(MASK.iter().cycle()).map(|(b, m)| b ^ m).collect();
        assert_eq!((frame[0], frame[1], unmasked.as_slice()), (0x81, 0x85, b"hello".as_slice()));
    }

    #[test]
    fn a_frame_beyond_125_bytes_has_a_two_byte_length() {
        let frame = server_frame(&"x".repeat(300));
        assert_eq!((&frame[..4], frame.len()), ([0x81, 126, 1, 44].as_slice(), 304));
    }

    #[test]
    fn an_echo_has_the_stated_length() {
        assert_eq!(echo().len(), ECHO_BYTES);
    }
}
