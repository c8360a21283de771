import type { JSX } from "preact";
import { hasLater, messageAt } from "../room/messages";
import { mayDelete, mayEdit } from "../room/standing";
import type { RoomState } from "../room/state";
import { unreadCount } from "../room/unread";
import { itemOf } from "./anchor";
import { ArrowDownIcon } from "./icons";
import { handleListKey, type ListAction } from "./list-keys";
import { ListBeginning } from "./list-beginning";
import type { MessageHandlers } from "./message-item";
import { MessageRows } from "./message-rows";
import type { TalkActions } from "./use-actions";
import type { Scroll } from "./use-scroll";

export type MessageListProps = {
  readonly state: RoomState;
  readonly actions: TalkActions;
  readonly handlers: MessageHandlers;
  readonly scroll: Scroll;
  /** The place of the message to which the reader was led. */
  readonly sought: number | undefined;
  /** The place of the message that is being edited. */
  readonly editing: number | undefined;
  /** Back to where one writes. */
  readonly onLeave: () => void;
};

/** The talk, as far as it is here, and ways to the rest of it. */
export function MessageList(props: MessageListProps): JSX.Element {
  const { state, actions, handlers, scroll, sought, editing, onLeave } = props;
  const { messages, unread } = state;
  const live = state.link.phase === "online";
  return (
    <div class="messages">
      <div
        ref={scroll.scroller}
        class="messages-scroller"
        tabIndex={0}
        role="log"
        aria-label="Messages"
        // History comes into it as well: what is new is announced beside it.
        aria-live="off"
        aria-busy={messages.asked !== undefined && !messages.asked.failed}
        onKeyDown={(event) => {
          const list = event.currentTarget;
          handleListKey(event, list, { onLeave, onAction: (seq, action) => { act(state, handlers, list, seq, action); } });
        }}
      >
        <ListBeginning state={state} live={live} onEarlier={(seq) => { actions.bring("earlier", seq); }} />
        <MessageRows state={state} handlers={handlers} live={live} sought={sought} editing={editing} />
        {hasLater(messages) && <p class="messages-note muted">Loading newer messages…</p>}
      </div>
      {!messages.following && messages.shown.length > 0 && (
        <button type="button" class="button messages-unseen" onClick={scroll.goToEnd}>
          <ArrowDownIcon />
          {endWords(unreadCount(unread, messages.newest))}
        </button>
      )}
    </div>
  );
}

function endWords(unseen: number): string {
  if (unseen === 0) return "Newest messages";
  return unseen === 1 ? "1 new message" : `${unseen.toLocaleString()} new messages`;
}

/** What a key does to the message that has the focus. */
function act(
  { standing, messages, me }: RoomState,
  { onReply, onEdit, onDelete }: MessageHandlers,
  list: HTMLElement,
  seq: number,
  action: ListAction,
): void {
  const message = messageAt(messages, seq);
  if (message === undefined) return;
  switch (action) {
    case "reply":
      if (standing.speaks && message.deleted === undefined) onReply(message);
      break;
    case "edit":
      if (mayEdit(standing, me, message)) onEdit(message);
      break;
    case "delete":
      if (mayDelete(standing, me, message)) onDelete(message);
      break;
    case "choose":
      itemOf(list, seq)?.querySelector<HTMLElement>(".message-actions button")?.focus();
      break;
  }
}
