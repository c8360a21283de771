//! Compiles a session's nested steps to a flat [`Program`].
//!
//! A loop is `LoopBegin, LoopEnd (decides; jumps to its exit), body…, Jump to LoopEnd`; the decision comes first, so
//! that a loop of zero rounds does nothing. A choice is a jump over the branches that are not chosen.

use std::sync::Arc;

use super::program::{LoopBegin, LoopEnd, Operation, Position, Program, RegisterIndex, TransactionSpan};
use crate::scenario::plan::{Action, Condition, Loop, Session, Step};

/// Maximum nesting depth of loops and transactions, limited by a user's registers.
pub(crate) const DEPTH_MAX: usize = 64;

/// A session nests loops and transactions deeper than [`DEPTH_MAX`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TooDeep;

/// Compiles a session.
pub(crate) fn compile(session: &Session) -> Result<Program, TooDeep> {
    let mut compiler = Compiler { operations: Vec::new(), transactions: Vec::new(), depth: 0 };
    compiler.steps(&session.steps)?;
    compiler.operations.push(Operation::End);
    let any = |is_it: fn(&Operation) -> bool| compiler.operations.iter().any(is_it);
    Ok(Program {
        captures: any(|operation| matches!(operation, Operation::Capture(..))),
        reads_slowly: any(|operation| matches!(operation, Operation::SlowReader(_))),
        operations: compiler.operations,
        transactions: compiler.transactions,
        label: session.label,
    })
}

struct Compiler {
    operations: Vec<Operation>,
    transactions: Vec<TransactionSpan>,
    depth: u8,
}

impl Compiler {
    fn steps(&mut self, steps: &[Step]) -> Result<(), TooDeep> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), TooDeep> {
        let label = step.label;
        let operation = match &step.action {
            Action::Connect(connect) => Operation::Connect(label, Box::new(connect.clone())),
            Action::Join(join) => Operation::Join(label, Box::new(join.clone())),
            Action::Leave(topic) => Operation::Leave(label, topic.clone()),
            Action::Push(push) => Operation::Push(label, Box::new(push.clone())),
            Action::Send(send) => Operation::Send(label, Box::new(send.clone())),
            Action::Wait(wait) => Operation::Wait(label, Box::new(wait.clone())),
            Action::Think(pause) => Operation::Think(*pause),
            Action::Pace(interval) => Operation::Pace(*interval),
            Action::Barrier { barrier, users, timeout } => {
                Operation::Barrier { label, barrier: *barrier, users: *users, timeout: *timeout }
            }
            Action::Set(variable, expression) => Operation::Set(*variable, expression.clone()),
            Action::Capture(variable, extractor) => Operation::Capture(*variable, extractor.clone()),
            Action::Http(request) => Operation::Http(label, Box::new(request.clone())),
            Action::Close { code, reason } => {
                Operation::Close { code: *code, reason: Arc::from(reason.as_str()) }
            }
            Action::Cut => Operation::Cut,
            Action::HalfOpen(pause) => Operation::HalfOpen(*pause),
            Action::SlowReader(rate) => Operation::SlowReader(*rate),
            Action::Stay => Operation::Stay,
            Action::Abort(whole_run) => Operation::Abort { whole_run: *whole_run },
            Action::Loop(inner) => return self.repeat(inner),
            Action::If { condition, then, otherwise } => return self.condition(condition, then, otherwise),
            Action::Choose(branches) => return self.choice(branches),
            Action::Transaction(steps) => return self.transaction(steps, step),
        };
        self.operations.push(operation);
        Ok(())
    }

    fn repeat(&mut self, inner: &Loop) -> Result<(), TooDeep> {
        let register = self.enter()?;
        self.operations.push(Operation::LoopBegin(Box::new(LoopBegin {
            register,
            times: inner.times,
            during: inner.during,
        })));
        let decision = self.reserve();
        self.steps(&inner.steps)?;
        self.operations.push(Operation::Jump(decision));
        self.depth -= 1;
        let exit = self.next();
        self.operations[decision as usize] = Operation::LoopEnd(Box::new(LoopEnd {
            register,
            condition: inner.condition.clone(),
            condition_after_first_round: inner.at_end,
            counter: inner.counter,
            exit,
        }));
        Ok(())
    }

    fn condition(&mut self, condition: &Condition, then: &[Step], otherwise: &[Step]) -> Result<(), TooDeep> {
        let test = self.reserve();
        self.steps(then)?;
        let over = (!otherwise.is_empty()).then(|| self.reserve());
        self.operations[test as usize] = Operation::JumpUnless(condition.clone(), self.next());
        self.steps(otherwise)?;
        if let Some(over) = over {
            self.operations[over as usize] = Operation::Jump(self.next());
        }
        Ok(())
    }

    fn choice(&mut self, branches: &[(f64, Vec<Step>)]) -> Result<(), TooDeep> {
        let choice = self.reserve();
        let mut sum = 0.0;
        let mut entries = Vec::with_capacity(branches.len());
        let mut exits = Vec::with_capacity(branches.len());
        for (weight, steps) in branches {
            sum += weight;
            entries.push((sum, self.next()));
            self.steps(steps)?;
            exits.push(self.reserve());
        }
        let end = self.next();
        for exit in exits {
            self.operations[exit as usize] = Operation::Jump(end);
        }
        if entries.is_empty() {
            entries.push((1.0, end));
        }
        self.operations[choice as usize] = Operation::Choose(entries);
        Ok(())
    }

    fn transaction(&mut self, steps: &[Step], step: &Step) -> Result<(), TooDeep> {
        let register = self.enter()?;
        self.operations.push(Operation::TransactionBegin(register));
        let span = self.transactions.len();
        let first = self.next();
        self.transactions.push(TransactionSpan { first, last: first, register, label: step.label });
        self.steps(steps)?;
        self.transactions[span].last = self.next();
        self.operations.push(Operation::TransactionEnd(register, step.label));
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<RegisterIndex, TooDeep> {
        if usize::from(self.depth) >= DEPTH_MAX {
            return Err(TooDeep);
        }
        let register = RegisterIndex(self.depth);
        self.depth += 1;
        Ok(register)
    }

    /// Reserves a position for an operation that depends on what follows it.
    fn reserve(&mut self) -> Position {
        let position = self.next();
        self.operations.push(Operation::End);
        position
    }

    fn next(&self) -> Position {
        self.operations.len() as Position
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::draw::Distribution;
    use crate::scenario::plan::{Comparison, LabelId};
    use crate::scenario::template::Template;

    fn step(action: Action) -> Step {
        Step { label: None, action }
    }

    fn think(seconds: f64) -> Step {
        step(Action::Think(Distribution::Constant(seconds)))
    }

    fn program(steps: Vec<Step>) -> Program {
        let session = Session { name: "test".to_owned(), weight: 1.0, steps, label: LabelId(0) };
        compile(&session).expect("a shallow session")
    }

    fn shape(program: &Program) -> Vec<String> {
        let name = |operation: &Operation| match operation {
            Operation::Jump(to) => format!("jump {to}"),
            Operation::JumpUnless(_, to) => format!("unless {to}"),
            Operation::Choose(entries) => {
                format!("choose {:?}", entries.iter().map(|entry| entry.1).collect::<Vec<_>>())
            }
            Operation::LoopBegin(begin) => format!("loop in r{}", begin.register.0),
            Operation::LoopEnd(end) => format!("round in r{} or {}", end.register.0, end.exit),
            Operation::TransactionBegin(register) => format!("begin r{}", register.0),
            Operation::TransactionEnd(register, _) => format!("end r{}", register.0),
            Operation::Think(_) => "think".to_owned(),
            Operation::Cut => "cut".to_owned(),
            Operation::End => "end".to_owned(),
            other => format!("{other:?}"),
        };
        program.operations.iter().map(name).collect()
    }

    fn repeat(steps: Vec<Step>) -> Step {
        step(Action::Loop(Loop {
            times: Some(Distribution::Constant(2.0)),
            during: None,
            condition: None,
            at_end: false,
            counter: None,
            steps,
        }))
    }

    #[test]
    fn nested_loops_have_registers_of_their_own() {
        let program = program(vec![repeat(vec![repeat(vec![think(1.0)])]), repeat(vec![think(2.0)])]);
        let expected = [
            "loop in r0",
            "round in r0 or 7",
            "loop in r1",
            "round in r1 or 6",
            "think",
            "jump 3",
            "jump 1",
            "loop in r0",
            "round in r0 or 11",
            "think",
            "jump 8",
            "end",
        ];
        assert_eq!(shape(&program), expected);
    }

    #[test]
    fn a_condition_jumps_over_what_is_not_done() {
        let condition = Condition {
            left: Template::text("1"),
            comparison: Comparison::Equal,
            right: Template::text("1"),
        };
        let both = Action::If {
            condition: condition.clone(),
            then: vec![think(1.0)],
            otherwise: vec![step(Action::Cut)],
        };
        assert_eq!(shape(&program(vec![step(both)])), ["unless 3", "think", "jump 4", "cut", "end"]);
        let one = Action::If { condition, then: vec![think(1.0)], otherwise: vec![] };
        assert_eq!(shape(&program(vec![step(one)])), ["unless 2", "think", "end"]);
    }

    #[test]
    fn a_choice_enters_one_branch_and_leaves_at_the_end() {
        let choice = Action::Choose(vec![(1.0, vec![think(1.0)]), (3.0, vec![step(Action::Cut)])]);
        assert_eq!(
            shape(&program(vec![step(choice)])),
            ["choose [1, 3]", "think", "jump 5", "cut", "jump 5", "end"]
        );
        assert_eq!(shape(&program(vec![step(Action::Choose(vec![]))])), ["choose [1]", "end"]);
    }

    #[test]
    fn a_transaction_knows_which_operations_are_its_own() {
        let labelled = Step {
            label: Some(LabelId(7)),
            action: Action::Transaction(vec![think(1.0), step(Action::HalfOpen(Duration::from_secs(1)))]),
        };
        let program = program(vec![think(1.0), labelled]);
        let span = TransactionSpan { first: 2, last: 4, register: RegisterIndex(0), label: Some(LabelId(7)) };
        assert_eq!(program.transactions, [span]);
    }

    #[test]
    fn a_session_that_is_too_deep_is_refused() {
        let mut steps = vec![think(1.0)];
        for _ in 0..=DEPTH_MAX {
            steps = vec![repeat(steps)];
        }
        let session = Session { name: "deep".to_owned(), weight: 1.0, steps, label: LabelId(0) };
        assert_eq!(compile(&session).err(), Some(TooDeep));
    }
}
