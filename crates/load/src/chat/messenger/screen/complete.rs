//! Tab completion: commands, and names after `@` and as arguments of commands.

use super::View;
use super::notes::Tone;
use crate::chat::messenger::command::{common, completed};

/// Maximum number of names offered at once.
const OFFERED_MAX: usize = 12;

impl View {
    pub(super) fn complete(&mut self) {
        let text = self.input.text().to_owned();
        if let Some(start) = text.strip_prefix('/')
            && !start.contains(char::is_whitespace)
        {
            if let Some(name) = completed(start) {
                let is_whole = completed(&name).as_deref() == Some(&name) && name.len() >= start.len();
                let blank = if is_whole && name != start { " " } else { "" };
                self.input.set(format!("/{name}{blank}"));
            }
            return;
        }
        let takes_name =
            ["/dm ", "/invite ", "/block ", "/unblock "].iter().find(|command| text.starts_with(**command));
        let from = match takes_name {
            Some(command) => command.len(),
            None => match text.rfind('@') {
                Some(at) if !text[at..].contains(char::is_whitespace) => at + 1,
                Some(_) | None => return,
            },
        };
        let names = self.messenger.client.people.beginning(&text[from..]);
        if let Some(shared) = common(names.iter().map(String::as_str))
            && shared.len() > text.len() - from
        {
            self.input.set(format!("{}{shared}", &text[..from]));
        } else if names.len() > 1 {
            let offered = names.iter().take(OFFERED_MAX).cloned().collect::<Vec<_>>().join(", ");
            self.note(Tone::Quiet, vec![offered]);
        }
    }
}
