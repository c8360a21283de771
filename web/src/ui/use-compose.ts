import type { RefObject } from "preact";
import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import type { Message } from "../protocol/message";
import { nothingComposed, reduceCompose, textOf, type Compose } from "../room/compose";
import { tooMany } from "../room/length";
import { explain } from "../room/words";
import { loadDraft, saveDraft } from "./draft-storage";
import { momentOf } from "./moments";
import type { TalkActions } from "./use-actions";

/** What is done with what is being written. It stays the same object. */
export type Writing = {
  readonly type: (text: string) => void;
  readonly reply: (message: Message) => void;
  readonly edit: (message: Message) => void;
  /** Gives up the edit, else the answering. */
  readonly cancel: () => void;
  /** Sends the draft, or saves the edit, if that can be done. */
  readonly submit: () => void;
  /** Puts the cursor there. */
  readonly focus: () => void;
};

export type Composing = {
  readonly compose: Compose;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly writing: Writing;
};

/**
 * What is being written, and its way to the server. An edit that was refused stays in the field, with the reason; the draft
 * of each `place` is kept by itself.
 */
export function useCompose(place: string, enabled: boolean, { send, edit }: TalkActions): Composing {
  const [compose, dispatch] = useReducer(reduceCompose, place, (kept) => ({ ...nothingComposed, draft: loadDraft(kept) }));
  const field = useRef<HTMLTextAreaElement>(null);
  const now = useRef({ compose, enabled });
  now.current = { compose, enabled };
  useEffect(() => { saveDraft(place, compose.draft); }, [place, compose.draft]);

  const writing = useMemo((): Writing => {
    const focus = (): void => { field.current?.focus(); };

    function save(message: Message, text: string): void {
      const { seq } = message;
      if (text === message.text) {
        dispatch({ type: "edit_saved", seq });
        return;
      }
      dispatch({ type: "edit_sent" });
      void edit(message, text).then((answer) => {
        if (answer?.ok === true) dispatch({ type: "edit_saved", seq });
        else if (answer) dispatch({ type: "edit_refused", seq, problem: explain(answer.fault, momentOf) });
      });
    }

    return {
      focus,
      type: (text) => { dispatch({ type: "typed", text }); },
      reply: ({ seq }) => {
        dispatch({ type: "reply_chosen", seq });
        focus();
      },
      edit: (message) => {
        dispatch({ type: "edit_chosen", message });
        focus();
      },
      cancel: () => {
        dispatch({ type: "cancelled" });
        focus();
      },
      submit: () => {
        const { editing, replyTo } = now.current.compose;
        const text = textOf(now.current.compose).trim();
        focus();
        if (!now.current.enabled || text === "" || tooMany(text) > 0 || editing?.saving === true) return;
        if (editing !== undefined) {
          save(editing.message, text);
          return;
        }
        send(text, replyTo);
        dispatch({ type: "draft_sent" });
      },
    };
  }, [send, edit]);

  return { compose, field, writing };
}
