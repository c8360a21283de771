//! This node's lease at one instance: beginning, renewing, and the answers, which contain the nodes with valid leases.

use super::instance::Instance;
use super::keys::{self, name};
use super::scripts::call;
use crate::announced;
use crate::failure::Failure;
use crate::limits::REAPED_TOPICS_MAX;
use crate::port::NodeAddress;
use crate::session::{SessionContext, Standing};
use ::redis::{Cmd, Value, from_redis_value};

impl Instance {
    /// Begins this node's lease, with the address where it listens; returns the nodes that have one.
    pub(crate) async fn begin_lease(
        &mut self,
        context: &SessionContext,
        announced: Option<&NodeAddress>,
    ) -> Result<Standing, Failure> {
        loop {
            let begin = begin(self, context, announced);
            let answer = self.ask(begin).await?;
            if !has_more_to_clear(&answer) {
                return leases(answer);
            }
        }
    }
}

/// Begins the node's lease, with the address for other nodes, if any.
fn begin(instance: &Instance, context: &SessionContext, announced: Option<&NodeAddress>) -> Cmd {
    let mut begin = lease(instance, context, "begin");
    begin.arg(announced.map(announced::write).unwrap_or_default());
    begin
}

/// Renews the node's lease.
pub(crate) fn renew(instance: &Instance, context: &SessionContext) -> Cmd {
    lease(instance, context, "renew")
}

fn lease(instance: &Instance, context: &SessionContext, what: &str) -> Cmd {
    let keys = &instance.keys;
    let mut lease = call(&instance.scripts.lease, &[keys.leases(), keys.addresses()]);
    lease.arg(name(context.node)).arg(context.times.lease.as_millis() as u64).arg(what);
    lease.arg(keys.topics_prefix()).arg(keys.people_prefix()).arg(keys.nodes()).arg(REAPED_TOPICS_MAX);
    lease
}

/// Returns whether more is left under an expired lease of this node than is cleared at a time.
fn has_more_to_clear(answer: &Value) -> bool {
    matches!(answer, Value::Array(values) if values.first() == Some(&Value::Int(2)))
}

/// Parses the nodes with a lease from the answer of `scripts/lease.lua`; fails if this node's own lease is not valid.
pub(crate) fn leases(answer: Value) -> Result<Standing, Failure> {
    let answer: Vec<Value> = from_redis_value(answer).map_err(|error| Failure::Refused(error.to_string()))?;
    let mut values = answer.into_iter();
    if values.next() != Some(Value::Int(1)) {
        return Err(Failure::LeaseOver);
    }
    let text = |value| from_redis_value::<String>(value).ok();
    let mut standing = Standing::new();
    while let (Some(name), Some(listening)) = (values.next(), values.next()) {
        if let Some(node) = text(name).as_deref().and_then(keys::node) {
            standing.insert(node, text(listening).as_deref().and_then(announced::read));
        }
    }
    Ok(standing)
}
