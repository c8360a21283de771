//! Full-text search, within what the caller may see.

use super::erasing::BeingErased;
use super::listing::{Listed, with_one_more};
use crate::access::{self, Access};
use crate::failure::StoreErrorKind;
use crate::ids::{ConversationId, MessageId, PersonId};
use crate::limits::{SEARCH_BEGINNING_CHARACTERS_MIN, SEARCH_BYTES_MAX};
use crate::message::Message;
use crate::permissions::Action;
use crate::problem::Problem;
use crate::rows::{Rows, Search, SendingFacts, Within, words};
use crate::{By, Call, Command, Failure, text};

/// The weight of a search.
const SEARCH_WEIGHT: u32 = 10;

/// Returns messages that contain all words, newest first: in one conversation, which needs [`Action::Read`], or in all
/// of the caller's conversations; a key searches the whole community. Case and accents are ignored; the last word also
/// matches as a prefix if it has at least [`SEARCH_BEGINNING_CHARACTERS_MIN`] characters.
///
/// If the words are so common that the search takes too long, it fails with the problem `too_broad` in `query`.
#[derive(Clone, Debug)]
pub struct SearchMessages {
    /// Words; up to [`SEARCH_BYTES_MAX`] bytes.
    pub query: String,
    /// The conversation; `None`: everywhere.
    pub conversation: Option<ConversationId>,
    /// Only messages before this one.
    pub before: Option<MessageId>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for SearchMessages {
    type Answer = Listed<Message, MessageId>;
    const WRITES: bool = false;

    /// It looks at many more messages than it returns.
    fn weight(&self) -> u32 {
        SEARCH_WEIGHT
    }

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        let within = match (self.conversation, &call.by) {
            (Some(conversation), _) => {
                Access::to(rows, call, conversation, Action::Read)?;
                Within::One(conversation)
            }
            (None, By::Person(_)) => Within::Of(access::asker(rows, call)?.id),
            (None, By::Service) => Within::Everywhere,
        };
        let words = words_of(&self.query)?;
        let beginning =
            words.last().is_some_and(|word| word.chars().count() >= SEARCH_BEGINNING_CHARACTERS_MIN);
        let search =
            Search { words, beginning, within, before: self.before, limit: with_one_more(self.limit) };
        let found = match rows.search(&call.community, &search) {
            Err(trouble) if trouble.kind == StoreErrorKind::Overdue => return Err(too_broad()),
            found => found?,
        };
        let mut listed = Listed::of(found, self.limit, |message| message.id);
        match &search.within {
            Within::Of(asker) => listed.rows = readable(rows, call, asker, listed.rows)?,
            Within::Everywhere => {
                BeingErased::leave_out(rows, call, &mut listed.rows, |message| Some(message.conversation))?;
            }
            Within::One(_) => {}
        }
        Ok(listed)
    }
}

/// Being a member is not enough: a ban also hides messages.
fn readable(
    rows: &mut dyn Rows,
    call: &Call,
    asker: &PersonId,
    found: Vec<Message>,
) -> Result<Vec<Message>, Failure> {
    let own = access::own_facts(rows, call, asker)?;
    let mut known: Vec<(ConversationId, bool)> = Vec::new();
    let mut readable = Vec::with_capacity(found.len());
    for message in found {
        let id = message.conversation;
        let may = match known.iter().find(|(known, _)| *known == id) {
            Some(&(_, may)) => may,
            None => {
                let may = may_read(rows, call, asker, &own, id)?;
                known.push((id, may));
                may
            }
        };
        if may {
            readable.push(message);
        }
    }
    Ok(readable)
}

fn may_read(
    rows: &mut dyn Rows,
    call: &Call,
    asker: &PersonId,
    own: &SendingFacts,
    id: ConversationId,
) -> Result<bool, Failure> {
    let Some(conversation) = rows.conversation(&call.community, id)? else {
        return Ok(false);
    };
    let member = rows.member(&call.community, id, asker)?;
    let facts = SendingFacts { member, ..own.clone() };
    Ok(Access::by_facts(rows, call, conversation, facts)?.may(Action::Read))
}

fn too_broad() -> Failure {
    Problem::new("too_broad", "matches too many messages: search for more or longer words").at("query").into()
}

fn words_of(query: &str) -> Result<Vec<String>, Failure> {
    let line = text::line(query, SEARCH_BYTES_MAX).map_err(|problem| problem.at("query"))?;
    let words = words(&line);
    if words.is_empty() {
        Err(Problem::new("form", "contains no word").at("query").into())
    } else {
        Ok(words)
    }
}
