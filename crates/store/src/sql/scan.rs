//! Scans tables by key, for export and erasure.

use super::rows::SqlRows;
use super::select::{Entity, Select};
use super::session::{Param, Session, corrupt};
use chat::rows::{Found, Record, Rows as _, Scanned, Table};
use chat::{
    Audit, Block, CommunityId, Conversation, Edit, Invitation, Key, Member, Mention, Message, Person,
    PersonId, Reaction, Report, Revocation, Sanction,
};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The parameters of a scan.
pub(super) struct Part<'a> {
    pub(super) table: Table,
    pub(super) person: Option<&'a PersonId>,
    pub(super) after: Option<&'a str>,
    pub(super) limit: usize,
}

pub(super) fn scan<S: Session>(
    rows: &mut SqlRows<'_, S>,
    community: &CommunityId,
    part: &Part<'_>,
) -> Found<Vec<Scanned>> {
    match part.table {
        Table::Community => {
            let row =
                if part.after.is_some() || part.person.is_some() { None } else { rows.community(community)? };
            Ok(row
                .into_iter()
                .map(|row| Scanned { position: row.id.to_string(), record: row.into() })
                .collect())
        }
        Table::Key if part.person.is_some() => Ok(Vec::new()),
        Table::Key => read::<Key, _>(rows.0, community, part, ""),
        Table::Person => read::<Person, _>(rows.0, community, part, "t.id = ?"),
        Table::Block => read::<Block, _>(rows.0, community, part, "(t.by_person = ? OR t.person = ?)"),
        Table::Revocation => read::<Revocation, _>(rows.0, community, part, "t.person = ?"),
        Table::Conversation => {
            let own = "t.id IN (SELECT conversation FROM members m WHERE m.community = t.community AND m.person = ?)";
            read::<Conversation, _>(rows.0, community, part, own)
        }
        Table::Member => read::<Member, _>(rows.0, community, part, "t.person = ?"),
        Table::Invitation => {
            read::<Invitation, _>(rows.0, community, part, "(t.by_person = ? OR t.person = ?)")
        }
        Table::Sanction => read::<Sanction, _>(rows.0, community, part, "(t.by_person = ? OR t.person = ?)"),
        Table::Message => messages(rows.0, community, part),
        Table::Edit => {
            let own = "EXISTS (SELECT 1 FROM messages m WHERE m.community = t.community \
                       AND m.conversation = t.conversation AND m.seq = t.seq AND m.sender = ?)";
            read::<Edit, _>(rows.0, community, part, own)
        }
        Table::Reaction => read::<Reaction, _>(rows.0, community, part, "t.person = ?"),
        Table::Mention => read::<Mention, _>(rows.0, community, part, "t.person = ?"),
        Table::Report => {
            let own = "(t.author = ? OR t.by_person = ? OR t.settled_by = ?)";
            read::<Report, _>(rows.0, community, part, own)
        }
        Table::Audit => read::<Audit, _>(rows.0, community, part, "(t.by_person = ? OR t.person = ?)"),
    }
}

/// Reads rows in the order of their key.
fn read<E: Entity + Into<Record>, S: Session>(
    session: &mut S,
    community: &CommunityId,
    part: &Part<'_>,
    about: &str,
) -> Found<Vec<Scanned>> {
    let key: Vec<String> = E::COLUMNS[..E::KEY].iter().map(|column| format!("t.{column}")).collect();
    let key = key.join(", ");
    let mut select = about_person(Select::of(community), part.person, about);
    if let Some(after) = part.after {
        let params = decode(after)?;
        let places = vec!["?"; params.len()].join(", ");
        select = select.and(&format!("({key}) > ({places})"), params);
    }
    let found = select.order(&key, part.limit).rows::<E>(session)?;
    let scanned = found.into_iter().map(|row| {
        let position = encode(&row.params()[..E::KEY]);
        Scanned { position, record: row.into() }
    });
    Ok(scanned.collect())
}

/// Reads messages by id: an import then stores them in the order in which they were sent, as search lists them.
fn messages<S: Session>(session: &mut S, community: &CommunityId, part: &Part<'_>) -> Found<Vec<Scanned>> {
    let mut select = about_person(Select::of(community), part.person, "t.sender = ?");
    if let Some(after) = part.after {
        select = select.and("t.id > ?", decode(after)?);
    }
    let found = select.order("t.id", part.limit).rows::<Message>(session)?;
    let scanned = found.into_iter().map(|row| {
        let position = encode(&[Param::id(row.id.0)]);
        Scanned { position, record: row.into() }
    });
    Ok(scanned.collect())
}

fn about_person<'a>(select: Select<'a>, person: Option<&'a PersonId>, about: &str) -> Select<'a> {
    match person {
        Some(person) => {
            let times = about.matches('?').count();
            select.and(about, std::iter::repeat_n(Param::from(person.as_str()), times))
        }
        None => select,
    }
}

/// A key as text: each part with its type, separated by a character that occurs in no key.
fn encode(key: &[Param<'_>]) -> String {
    let part = |param: &Param<'_>| match param {
        Param::Null => "n".to_owned(),
        Param::Integer(number) => format!("i{number}"),
        Param::Text(text) => format!("t{text}"),
        Param::Bytes(bytes) => bytes.iter().fold("b".to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    };
    key.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn decode(position: &str) -> Found<Vec<Param<'static>>> {
    let unknown = || corrupt("the position of a scan is invalid");
    let part = |part: &str| {
        let mut characters = part.chars();
        let kind = characters.next().ok_or_else(unknown)?;
        let rest = characters.as_str();
        match kind {
            'i' => rest.parse().map(Param::Integer).map_err(|_| unknown()),
            't' => Ok(Param::Text(Cow::Owned(rest.to_owned()))),
            'b' if rest.is_ascii() => {
                let digits = rest.as_bytes().chunks(2);
                let bytes = digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap_or("?"), 16));
                bytes
                    .collect::<Result<Vec<u8>, _>>()
                    .map(|bytes| Param::Bytes(Cow::Owned(bytes)))
                    .map_err(|_| unknown())
            }
            _ => Err(unknown()),
        }
    };
    position.split('\n').map(part).collect()
}
