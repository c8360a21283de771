//! The table of deliveries.

use super::select::{Entity, columns_of};
use super::session::{Columns, Param, Session};
use super::values::{optional_text, read_at};
use chat::rows::Found;
use chat::{CommunityId, ConversationId, Delivery, DeliveryId, GivenUp, KeyId, Moment};

impl Entity for Delivery {
    const TABLE: &'static str = "deliveries";
    const COLUMNS: &'static [&'static str] = &[
        "endpoint",
        "id",
        "person",
        "conversation",
        "holder",
        "body",
        "queued_ms",
        "attempts",
        "given_up_ms",
        "why",
    ];
    const KEY: usize = 2;

    fn params(&self) -> Vec<Param<'_>> {
        let given_up = self.given_up.as_ref();
        vec![
            Param::id(self.endpoint.0),
            Param::id(self.id.0),
            self.person.as_str().into(),
            Param::optional_id(self.conversation.map(|conversation| conversation.0)),
            self.holder.as_str().into(),
            self.body.as_str().into(),
            Param::number(self.queued.millis()),
            Param::number(self.attempts.into()),
            Param::optional_number(given_up.map(|given_up| given_up.at.millis())),
            optional_text(given_up.map(|given_up| given_up.why.as_str())),
        ]
    }

    fn read(row: &dyn Columns, at: usize) -> Found<Self> {
        let mut reader = read_at(row, at);
        Ok(Self {
            endpoint: KeyId(reader.id()?),
            id: DeliveryId(reader.id()?),
            person: reader.person()?,
            conversation: reader.optional_id()?.map(ConversationId),
            holder: reader.text()?.to_owned(),
            body: reader.text()?.to_owned(),
            queued: reader.moment()?,
            attempts: reader.small()?,
            given_up: {
                let (at, why) = (reader.optional_moment()?, reader.optional_text()?);
                at.map(|at| GivenUp { at, why: why.unwrap_or_default().to_owned() })
            },
        })
    }
}

/// See [`Rows::undelivered`](chat::Rows::undelivered).
pub(super) fn undelivered(
    session: &mut impl Session,
    holder: &str,
    abandoned_before: Moment,
    after: Option<&(CommunityId, KeyId, DeliveryId)>,
    limit: usize,
) -> Found<Vec<(CommunityId, Delivery)>> {
    let mut sql = format!(
        "SELECT {}, t.community FROM deliveries t WHERE t.given_up_ms IS NULL AND (t.holder = ?1 OR t.queued_ms < ?2)",
        columns_of::<Delivery>("t")
    );
    let mut params = vec![Param::from(holder), Param::number(abandoned_before.millis())];
    if let Some((community, endpoint, id)) = after {
        sql.push_str(" AND (t.community, t.endpoint, t.id) > (?3, ?4, ?5)");
        params.extend([community.as_str().into(), Param::id(endpoint.0), Param::id(id.0)]);
    }
    sql.push_str(&format!(" ORDER BY t.community, t.endpoint, t.id LIMIT {limit}"));
    let mut found = Vec::new();
    session.query(&sql, &params, &mut |row| {
        let delivery = Delivery::read(row, 0)?;
        let community = read_at(row, Delivery::COLUMNS.len()).parsed(CommunityId::parse)?;
        found.push((community, delivery));
        Ok(())
    })?;
    Ok(found)
}
