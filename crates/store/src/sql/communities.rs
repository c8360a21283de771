//! Reads communities: theirs is the only table whose rows do not belong to another community.

use super::entities::read_community;
use super::session::{Columns, Param, Session};
use chat::Community;
use chat::rows::Found;

/// Returns the first `limit` communities by id that satisfy `condition`.
pub(super) fn read_communities(
    session: &mut impl Session,
    condition: &str,
    params: &[Param<'_>],
    limit: usize,
) -> Found<Vec<Community>> {
    let sql = format!(
        "SELECT community, created_ms, settings, erasing_ms FROM communities WHERE {condition} ORDER BY community LIMIT {limit}"
    );
    let mut found = Vec::new();
    session.query(&sql, params, &mut |row: &dyn Columns| {
        found.push(read_community(row)?);
        Ok(())
    })?;
    Ok(found)
}
