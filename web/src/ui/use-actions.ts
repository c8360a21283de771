import { useMemo, useRef } from "preact/hooks";
import type { Answer } from "../protocol/ask";
import type { Where } from "../protocol/events";
import type { Message } from "../protocol/message";
import type { Talk } from "../protocol/talk";
import type { RoomAction, RoomState } from "../room/state";
import { useDelivery, type Delivery } from "./use-delivery";
import { useLeaving } from "./use-leaving";

/** What one does in a conversation. It stays the same object as long as the page is shown. */
export type TalkActions = Delivery & {
  readonly edit: (message: Message, text: string) => Promise<Answer | undefined>;
  readonly remove: (message: Message) => void;
  readonly react: (message: Message, emoji: string, on: boolean) => void;
  readonly typing: (on: boolean) => void;
  /** Asks for messages next to that place, around it, or the newest. */
  readonly bring: (where: Where, seq: number) => void;
  readonly quote: (seq: number) => void;
  readonly read: (seq: number) => void;
  readonly note: (action: RoomAction) => void;
};

/** `talk` is asked at each action: the connection may be another one by then. */
export function useTalkActions(
  state: RoomState,
  dispatch: (action: RoomAction) => void,
  talk: () => Talk | undefined,
): TalkActions {
  const latest = useRef(talk);
  latest.current = talk;
  const delivery = useDelivery({
    outbox: state.outbox,
    online: state.link.phase === "online",
    send: (draft) => latest.current()?.send(draft),
    tell: dispatch,
  });
  useLeaving(state.outbox);

  return useMemo((): TalkActions => {
    const now = (): Talk | undefined => latest.current();
    const insist = (asked: Promise<Answer> | undefined): void => {
      void asked?.then((answer) => {
        if (!answer.ok) dispatch({ type: "failed", fault: answer.fault });
      });
    };
    return {
      ...delivery,
      edit: async (message, text) => now()?.edit(message, text),
      remove: ({ seq }) => { insist(now()?.delete(seq)); },
      react: ({ seq }, emoji, on) => { insist(now()?.react(seq, emoji, on)); },
      typing: (on) => now()?.typing(on),
      bring: (where, seq) => {
        dispatch({ type: "asked", where });
        void now()?.bring(where, seq);
      },
      quote: (seq) => now()?.quote(seq),
      read: (seq) => now()?.read(seq),
      note: dispatch,
    };
  }, [delivery, dispatch]);
}
