import type { Message } from "../protocol/message";

/** What is being written: a new message, maybe an answer, or another text for an old one. The draft outlives an edit. */
export type Compose = {
  readonly draft: string;
  /** The place of the message that the draft answers. */
  readonly replyTo: number | undefined;
  readonly editing: Editing | undefined;
};

export type Editing = {
  readonly message: Message;
  readonly text: string;
  /** Whether the server was asked. */
  readonly saving: boolean;
  /** Why it was not saved, in words. */
  readonly problem: string | undefined;
};

export type ComposeAction =
  | { readonly type: "typed"; readonly text: string }
  | { readonly type: "reply_chosen"; readonly seq: number }
  | { readonly type: "edit_chosen"; readonly message: Message }
  /** Gives up the edit, else the answering; the draft stays. */
  | { readonly type: "cancelled" }
  | { readonly type: "draft_sent" }
  | { readonly type: "edit_sent" }
  | { readonly type: "edit_saved"; readonly seq: number }
  | { readonly type: "edit_refused"; readonly seq: number; readonly problem: string };

export const nothingComposed: Compose = { draft: "", replyTo: undefined, editing: undefined };

/** What stands in the field. */
export function textOf({ draft, editing }: Compose): string {
  return editing?.text ?? draft;
}

export function reduceCompose(compose: Compose, action: ComposeAction): Compose {
  const { editing } = compose;
  switch (action.type) {
    case "typed":
      return editing === undefined
        ? { ...compose, draft: action.text }
        : { ...compose, editing: { ...editing, text: action.text, problem: undefined } };
    case "reply_chosen":
      return { ...compose, editing: undefined, replyTo: action.seq };
    case "edit_chosen": {
      const { message } = action;
      return { ...compose, editing: { message, text: message.text, saving: false, problem: undefined } };
    }
    case "cancelled":
      return editing === undefined ? { ...compose, replyTo: undefined } : { ...compose, editing: undefined };
    case "draft_sent":
      return { ...compose, draft: "", replyTo: undefined };
    case "edit_sent":
      return editing === undefined ? compose : { ...compose, editing: { ...editing, saving: true, problem: undefined } };
    case "edit_saved":
      return editing?.message.seq === action.seq ? { ...compose, editing: undefined } : compose;
    case "edit_refused":
      return editing?.message.seq === action.seq
        ? { ...compose, editing: { ...editing, saving: false, problem: action.problem } }
        : compose;
  }
}
