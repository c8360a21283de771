//! Lists of the user's conversations and of people present, in text and JSON.

use serde_json::{Value, json};

use super::Client;
use crate::chat::messenger::payload::Row;

impl Client {
    pub(super) fn list(&mut self) {
        let rows: Vec<Row> = self.tab.rows().into_iter().cloned().collect();
        let line = |(number, row): (usize, &Row)| {
            let shown = if self.current.as_deref() == Some(&row.conversation.id) { "*" } else { " " };
            let mut line = format!("{shown}{:>3} {}", number + 1, self.label_of(&row.conversation));
            if row.unread > 0 {
                line += &format!("  {} unread", row.unread);
            }
            if row.mentions > 0 {
                line += &format!(", mentions: {}", row.mentions);
            }
            for (is, word) in [(row.is_muted, "muted"), (row.is_archived, "archived")] {
                if is {
                    line += &format!("  {word}");
                }
            }
            line
        };
        let lines: Vec<String> = rows.iter().enumerate().map(line).collect();
        let value: Vec<Value> = rows.iter().map(|row| self.row_value(row)).collect();
        self.tell(
            "conversations",
            Value::Array(value),
            if lines.is_empty() { vec!["you have no conversations".into()] } else { lines },
        );
    }

    /// Returns a row of the tab as JSON.
    pub(in crate::chat::messenger) fn row_value(&self, row: &Row) -> Value {
        json!({
            "conversation": row.conversation.id,
            "place": self.label_of(&row.conversation),
            "last": row.conversation.last,
            "read": row.read,
            "unread": row.unread,
            "mentions": row.mentions,
            "muted": row.is_muted,
            "archived": row.is_archived,
        })
    }

    pub(super) fn who(&mut self) {
        let (people, count) = self.people.here();
        let each = |person: &&str| {
            let status = self.people.status_of(person).unwrap_or("online");
            let guest = if self.people.is_guest(person) { ", guest" } else { "" };
            format!("{}  {status}{guest}  {person}", self.people.name(person))
        };
        let mut lines: Vec<String> = people.iter().map(each).collect();
        let room = self.room.name.as_str();
        lines.insert(
            0,
            if count == 1 {
                format!("1 person has #{room} open")
            } else {
                format!("{count} people have #{room} open")
            },
        );
        let value: Vec<Value> = people
            .iter()
            .map(|person| json!({"person": person, "name": self.people.name(person), "status": self.people.status_of(person)}))
            .collect();
        let value = json!({"count": count, "people": value});
        self.tell("who", value, lines);
    }
}
