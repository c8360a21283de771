import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isRoom } from "../protocol/conversation";
import type { Tab } from "../protocol/tab";
import { roomPath, type RoomAddress } from "../room/address";
import type { RoomState } from "../room/state";
import { linesOf } from "../room/tabs";
import { CloseIcon } from "./icons";
import { TabLine } from "./tab-line";

export type TabsPanelProps = {
  readonly state: RoomState;
  readonly address: RoomAddress;
  /** The conversation that is open beside the room; `undefined` while the room itself is shown. */
  readonly current: string | undefined;
  /** Matters on narrower screens only, where the panel covers the page. */
  readonly open: boolean;
  readonly onClose: () => void;
  /** Shows that conversation, or the room again. */
  readonly onChoose: (conversation: string | undefined) => void;
  readonly onMore: () => void;
};

/** Every conversation one is in, the newest first. Other rooms are other pages; private conversations open in this one. */
export function TabsPanel(props: TabsPanelProps): JSX.Element {
  const { state, address, current, open, onClose, onChoose, onMore } = props;
  const closeButton = useRef<HTMLButtonElement>(null);
  const lines = linesOf(state.tabs);

  useEffect(() => {
    if (open) closeButton.current?.focus();
  }, [open]);

  function wayTo({ conversation }: Tab): string | (() => void) {
    if (conversation.id === state.conversation?.id) return () => { onChoose(undefined); };
    const { name } = conversation;
    if (isRoom(conversation) && name !== undefined) return roomPath({ ...address, room: name });
    return () => { onChoose(conversation.id); };
  }

  return (
    <>
      <nav
        id="tabs"
        class={`tabs${open ? " tabs-open" : ""}`}
        aria-labelledby="tabs-title"
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
        }}
      >
        <div class="people-heading">
          <h2 id="tabs-title">Conversations</h2>
          <button
            type="button"
            ref={closeButton}
            class="button button-quiet tabs-close"
            aria-label="Close"
            onClick={onClose}
          >
            <CloseIcon />
          </button>
        </div>
        {lines.length === 0 ? (
          <p class="people-note muted">Choose somebody who is here to write to them in private.</p>
        ) : (
          <ul class="tabs-list">
            {lines.map((line) => (
              <TabLine
                key={line.conversation.id}
                line={line}
                current={line.conversation.id === (current ?? state.conversation?.id)}
                state={state}
                way={wayTo(line)}
              />
            ))}
          </ul>
        )}
        {state.tabs.next !== undefined && (
          <button type="button" class="button button-quiet" disabled={state.link.phase !== "online"} onClick={onMore}>
            More conversations
          </button>
        )}
      </nav>
      <div class="tabs-scrim" onClick={onClose} />
    </>
  );
}
