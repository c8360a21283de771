import { expect, test } from "vitest";
import { sample } from "../protocol/message.sample";
import { nothingComposed, reduceCompose, textOf, type Compose, type ComposeAction } from "./compose";

const message = sample(7, { text: "helo" });

function after(...actions: ComposeAction[]): Compose {
  return actions.reduce(reduceCompose, nothingComposed);
}

test("an edit leaves the draft and what it answers alone", () => {
  const before = after({ type: "typed", text: "a draft" }, { type: "reply_chosen", seq: 3 });
  const editing = [{ type: "edit_chosen", message }, { type: "typed", text: "hello" }] as const;
  const during = editing.reduce(reduceCompose, before);
  expect(textOf(during)).toBe("hello");
  expect(reduceCompose(during, { type: "cancelled" })).toEqual(before);
  expect(reduceCompose(during, { type: "edit_saved", seq: 7 })).toEqual(before);
});

test("giving up ends the edit first, then the answering, and never the draft", () => {
  const compose = after({ type: "typed", text: "a draft" }, { type: "reply_chosen", seq: 3 }, { type: "cancelled" });
  expect(compose).toEqual({ draft: "a draft", replyTo: undefined, editing: undefined });
});

test("who begins an answer ends an edit", () => {
  expect(after({ type: "edit_chosen", message }, { type: "reply_chosen", seq: 3 })).toEqual({
    ...nothingComposed,
    replyTo: 3,
  });
});

test("what is sent is gone, with what it answered", () => {
  expect(after({ type: "typed", text: "hi" }, { type: "reply_chosen", seq: 3 }, { type: "draft_sent" })).toEqual(nothingComposed);
});

test("a refused edit stays, with the reason, until something is typed", () => {
  const refused = after(
    { type: "edit_chosen", message },
    { type: "typed", text: "hello" },
    { type: "edit_sent" },
    { type: "edit_refused", seq: 7, problem: "muted" },
  );
  expect(refused.editing).toEqual({ message, text: "hello", saving: false, problem: "muted" });
  expect(reduceCompose(refused, { type: "typed", text: "hello!" }).editing?.problem).toBeUndefined();
});

test("an answer to another edit changes nothing", () => {
  const editing = after({ type: "edit_chosen", message });
  expect(reduceCompose(editing, { type: "edit_saved", seq: 6 })).toBe(editing);
  expect(reduceCompose(editing, { type: "edit_refused", seq: 6, problem: "no" })).toBe(editing);
});
