//! What is older than a community keeps is dropped, once an hour.

use crate::messenger::Messenger;
use chat::limits::PAGE_MAX;
use chat::verbs::{Communities, Expire};
use chat::{By, CommunityId, Failure};

/// Steps for one community in one round: a transaction each, of a page of messages at most. The rest waits for the next
/// round, so that none keeps the others waiting.
const STEPS_MAX: usize = 500;

impl Messenger {
    /// Goes through all communities, and says how many messages were dropped. Not on a thread of an async runtime.
    ///
    /// # Errors
    /// The store is in trouble.
    pub fn apply_retention(&self) -> Result<u64, Failure> {
        let (mut after, mut dropped) = (None, 0);
        loop {
            let page = self.perform(Communities { after, limit: PAGE_MAX }).wait()?;
            for community in &page.rows {
                if community.settings.limits.history_days.is_some() {
                    dropped += self.drop_outdated(&community.id)?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(dropped);
            }
        }
    }

    fn drop_outdated(&self, community: &CommunityId) -> Result<u64, Failure> {
        let mut dropped = 0;
        for _ in 0..STEPS_MAX {
            let step = self.ask(community, By::Service, Expire).wait()?;
            dropped += step.messages;
            if !step.more {
                break;
            }
        }
        Ok(dropped)
    }
}
