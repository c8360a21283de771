//! The encoding of messages between nodes. The topic is not part of a message: the channel's name contains it.
//!
//! Numbers are big-endian. A text or byte string is preceded by its length, four bytes, unless it is the last field.
//! The first byte is the type. The version is part of the names of keys and channels (`v1`), so that nodes of another
//! version do not receive anything that they would misread.

use hub::{
    Dismissal, Draft, Epoch, Micros, NodeId, Outgoing, PhxRef, Position, PresenceChange, PresenceMeta,
    PublisherId,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// The version of everything in this file, and of what is stored in an engine.
pub(crate) const VERSION: &str = "v1";

/// A message on a topic's channel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Frame {
    /// A publication on an ephemeral topic.
    Published { node: NodeId, event: Box<str>, payload: Outgoing<'static> },
    /// Publications of a node on an ephemeral topic were lost to the others; the age is that of the last one.
    Lost { node: NodeId, age_ms: u64 },
    /// A publication on a recoverable topic; the engine wrote the place.
    Ordered { epoch: Epoch, offset: u64, previous: u64, kept: Kept },
    /// The position of a recoverable topic.
    Head { node: NodeId, position: Position },
    /// A change of a node's people.
    Present { node: NodeId, version: u64, previous: u64, change: PresenceChange },
    /// The newest version of a node's people.
    PresenceHead { node: NodeId, version: u64 },
    /// A node's dismissal, on the channel of all nodes.
    Dismissed { node: NodeId, dismissal: Dismissal },
    /// A message of a node's program, on the same channel.
    Told { node: NodeId, words: Arc<[u8]> },
}

/// A publication as an engine stores it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Kept {
    pub(crate) node: NodeId,
    pub(crate) except: Option<PublisherId>,
    pub(crate) event: Box<str>,
    pub(crate) payload: Outgoing<'static>,
}

const PUBLISHED: u8 = b'e';
const LOST: u8 = b'l';
/// Written by the engine; see [`decode::ordered`](crate::decode::ordered).
pub(crate) const ORDERED: u8 = b'o';
const HEAD: u8 = b'h';
const PRESENT: u8 = b'p';
const PRESENCE_HEAD: u8 = b'q';
const DISMISSED: u8 = b'd';
const TOLD: u8 = b'w';

const JSON: u8 = 0;
const BINARY: u8 = 1;
/// The kinds of dismissals: sockets or joins.
const SOCKETS: u8 = 0;
const JOINS: u8 = 1;
const GOING_AWAY: u16 = 1001;
/// Number of digits of an offset in an ordered frame, which an engine's script writes.
pub(crate) const OFFSET_DIGITS: usize = 20;

pub(crate) fn published(node: NodeId, event: &str, payload: &Outgoing<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + event.len() + payload.as_bytes().len());
    bytes.push(PUBLISHED);
    put_number(&mut bytes, node.0);
    put_payload(&mut bytes, event, payload);
    bytes
}

pub(crate) fn lost(node: NodeId, age: Duration) -> Vec<u8> {
    let mut bytes = vec![LOST];
    put_number(&mut bytes, node.0);
    put_number(&mut bytes, u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    bytes
}

/// Encodes a publication as an engine stores it, and sends it after its place.
pub(crate) fn kept(node: NodeId, draft: &Draft) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32 + draft.event.len() + draft.payload.as_bytes().len());
    put_number(&mut bytes, node.0);
    put_text(&mut bytes, draft.except.as_ref().map_or("", PublisherId::as_str));
    put_payload(&mut bytes, &draft.event, &draft.payload);
    bytes
}

pub(crate) fn head(node: NodeId, position: &Position) -> Vec<u8> {
    let mut bytes = vec![HEAD];
    put_number(&mut bytes, node.0);
    put_number(&mut bytes, position.offset);
    bytes.extend_from_slice(position.epoch.as_str().as_bytes());
    bytes
}

pub(crate) fn present(node: NodeId, version: u64, previous: u64, change: &PresenceChange) -> Vec<u8> {
    let mut bytes = vec![PRESENT];
    for number in [node.0, version, previous] {
        put_number(&mut bytes, number);
    }
    bytes.push(u8::from(change.left.is_some()) | u8::from(change.joined.is_some()) << 1);
    if let Some((key, reference)) = &change.left {
        bytes.extend_from_slice(reference.as_str().as_bytes());
        put_text(&mut bytes, key);
    }
    if let Some(meta) = &change.joined {
        bytes.extend_from_slice(meta.reference.as_str().as_bytes());
        bytes.extend_from_slice(&person(meta));
    }
    bytes
}

pub(crate) fn presence_head(node: NodeId, version: u64) -> Vec<u8> {
    let mut bytes = vec![PRESENCE_HEAD];
    put_number(&mut bytes, node.0);
    put_number(&mut bytes, version);
    bytes
}

pub(crate) fn dismissed(node: NodeId, dismissal: &Dismissal) -> Vec<u8> {
    let mut bytes = vec![DISMISSED];
    put_number(&mut bytes, node.0);
    match dismissal {
        Dismissal::Sockets { id, code } => {
            bytes.push(SOCKETS);
            bytes.extend_from_slice(&code.to_be_bytes());
            bytes.extend_from_slice(id.as_bytes());
        }
        Dismissal::Joins { id, topic } => {
            bytes.push(JOINS);
            put_text(&mut bytes, id);
            bytes.extend_from_slice(topic.as_bytes());
        }
    }
    bytes
}

pub(crate) fn told(node: NodeId, words: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9 + words.len());
    bytes.push(TOLD);
    put_number(&mut bytes, node.0);
    bytes.extend_from_slice(words);
    bytes
}

/// Encodes a meta as an engine stores it under its ref.
pub(crate) fn person(meta: &PresenceMeta) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + meta.key.len() + meta.json.len());
    put_text(&mut bytes, &meta.key);
    bytes.extend_from_slice(meta.json.as_bytes());
    bytes
}

/// Decodes a message. Returns `None` for one that this version does not understand.
pub(crate) fn read(bytes: &[u8]) -> Option<Frame> {
    let mut reader = Reader(bytes);
    Some(match reader.byte()? {
        PUBLISHED => {
            let node = reader.node()?;
            let (event, payload) = reader.payload()?;
            Frame::Published { node, event, payload }
        }
        LOST => Frame::Lost { node: reader.node()?, age_ms: reader.number()? },
        ORDERED => {
            let length = usize::from(reader.byte()?);
            let epoch = Epoch::new(text(reader.take(length)?)?)?;
            let (offset, previous) = (reader.decimal()?, reader.decimal()?);
            Frame::Ordered { epoch, offset, previous, kept: read_kept(reader.0)? }
        }
        HEAD => {
            let (node, offset) = (reader.node()?, reader.number()?);
            let epoch = Epoch::new(text(reader.0)?)?;
            Frame::Head { node, position: Position { epoch, offset } }
        }
        PRESENT => {
            let (node, version, previous) = (reader.node()?, reader.number()?, reader.number()?);
            let which = reader.byte()?;
            let left = match which & 1 {
                0 => None,
                _ => {
                    let reference = reader.reference()?;
                    Some((reader.text()?.into(), reference))
                }
            };
            let joined = match which & 2 {
                0 => None,
                _ => {
                    let reference = reader.reference()?;
                    Some(read_person(reference, reader.0)?)
                }
            };
            Frame::Present { node, version, previous, change: PresenceChange { left, joined } }
        }
        PRESENCE_HEAD => Frame::PresenceHead { node: reader.node()?, version: reader.number()? },
        DISMISSED => Frame::Dismissed { node: reader.node()?, dismissal: reader.dismissal()? },
        TOLD => Frame::Told { node: reader.node()?, words: reader.0.into() },
        _ => return None,
    })
}

/// Returns the node that sent a message, without decoding the rest; `None` for one that an engine wrote.
pub(crate) fn sender(bytes: &[u8]) -> Option<NodeId> {
    let mut reader = Reader(bytes);
    match reader.byte()? {
        PUBLISHED | LOST | HEAD | PRESENT | PRESENCE_HEAD | DISMISSED | TOLD => reader.node(),
        _ => None,
    }
}

/// Decodes the output of [`kept`].
pub(crate) fn read_kept(bytes: &[u8]) -> Option<Kept> {
    let mut reader = Reader(bytes);
    let node = reader.node()?;
    let except = match reader.text()? {
        "" => None,
        name => Some(PublisherId::parse(name)?),
    };
    let (event, payload) = reader.payload()?;
    Some(Kept { node, except, event, payload })
}

/// Decodes the output of [`person`].
pub(crate) fn read_person(reference: PhxRef, bytes: &[u8]) -> Option<PresenceMeta> {
    let mut reader = Reader(bytes);
    let key = reader.text()?.into();
    Some(PresenceMeta { key, reference, json: text(reader.0)?.into() })
}

impl Kept {
    /// Converts it to the hub's type.
    pub(crate) fn into_draft(self, topic: Arc<str>, received: Micros) -> Draft {
        let Kept { node: _, except, event, payload } = self;
        Draft { topic, event, payload, received, except }
    }
}

/// Reads fields from the front; methods return `None` if too little is left.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_be_bytes)
    }

    pub(crate) fn node(&mut self) -> Option<NodeId> {
        self.number().map(NodeId)
    }

    fn decimal(&mut self) -> Option<u64> {
        text(self.take(OFFSET_DIGITS)?)?.parse().ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        text(self.run()?)
    }

    /// Reads a byte string with a length prefix.
    pub(crate) fn run(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_be_bytes(self.take(4)?.try_into().ok()?);
        self.take(length as usize)
    }

    pub(crate) fn reference(&mut self) -> Option<PhxRef> {
        PhxRef::parse(text(self.take(16)?)?)
    }

    /// Reads a dismissal, up to the end.
    fn dismissal(&mut self) -> Option<Dismissal> {
        Some(match self.byte()? {
            SOCKETS => {
                let code = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
                if !is_close_code(code) {
                    return None;
                }
                Dismissal::Sockets { id: text(self.0)?.into(), code }
            }
            JOINS => Dismissal::Joins { id: self.text()?.into(), topic: text(self.0)?.into() },
            _ => return None,
        })
    }

    /// Reads an event's name and, up to the end, its payload.
    fn payload(&mut self) -> Option<(Box<str>, Outgoing<'static>)> {
        let event = self.text()?.into();
        let payload = match self.byte()? {
            JSON => Outgoing::Json(Cow::Owned(text(self.0)?.to_owned())),
            BINARY => Outgoing::Binary(Cow::Owned(self.0.to_owned())),
            _ => return None,
        };
        Some((event, payload))
    }
}

/// Returns whether [`Dismissal::Sockets`] may have this code: no other code from the bus is passed on to clients.
fn is_close_code(code: u16) -> bool {
    code == GOING_AWAY || (4000..5000).contains(&code)
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn put_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_be_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let length = u32::try_from(text.len()).expect("no frame is that long");
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn put_payload(bytes: &mut Vec<u8>, event: &str, payload: &Outgoing<'_>) {
    put_text(bytes, event);
    bytes.push(match payload {
        Outgoing::Json(_) => JSON,
        Outgoing::Binary(_) => BINARY,
    });
    bytes.extend_from_slice(payload.as_bytes());
}

#[cfg(test)]
mod tests;
