import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isRoom } from "../protocol/conversation";
import type { Tab } from "../protocol/tab";
import { roomPath, type RoomAddress } from "../room/address";
import type { RoomState } from "../room/state";
import { archivedOf, linesOf, titleOf } from "../room/tabs";
import { explain } from "../room/words";
import { conversationItems } from "./conversation-items";
import { BlockIcon, CloseIcon } from "./icons";
import { Menu } from "./menu";
import { momentOf } from "./moments";
import { TabLine } from "./tab-line";
import { useMenu } from "./use-menu";
import type { RoomActions } from "./use-room";

export type TabsPanelProps = {
  readonly state: RoomState;
  readonly actions: RoomActions;
  readonly address: RoomAddress;
  /** The conversation that is open beside the room; `undefined` while the room itself is shown. */
  readonly current: string | undefined;
  /** Matters on narrower screens only, where the panel covers the page. */
  readonly open: boolean;
  readonly onClose: () => void;
  /** Shows that conversation, or the room again. */
  readonly onChoose: (conversation: string | undefined) => void;
  /** Asks before somebody is blocked. */
  readonly onBlock: (person: string) => void;
  /** Lists whom one blocks. */
  readonly onBlocked: () => void;
};

/** Every conversation one is in, the newest first. Other rooms are other pages; private conversations open in this one. */
export function TabsPanel(props: TabsPanelProps): JSX.Element {
  const { state, actions, address, current, open, onClose, onChoose, onBlock, onBlocked } = props;
  const { tabs, blocks, names, me, link } = state;
  const { next } = tabs;
  const live = link.phase === "online";
  const closeButton = useRef<HTMLButtonElement>(null);
  const { menu, toggle, close } = useMenu<string>();
  const about = menu === undefined ? undefined : tabs.lines.get(menu.about);
  const archived = archivedOf(tabs);

  useEffect(() => {
    if (open) closeButton.current?.focus();
  }, [open]);

  function wayTo({ conversation }: Tab): string | (() => void) {
    if (conversation.id === state.conversation?.id) return () => { onChoose(undefined); };
    const { name } = conversation;
    if (isRoom(conversation) && name !== undefined) return roomPath({ ...address, room: name });
    return () => { onChoose(conversation.id); };
  }

  function row(line: Tab): JSX.Element {
    const { id } = line.conversation;
    return (
      <TabLine
        key={id}
        line={line}
        current={id === (current ?? state.conversation?.id)}
        state={state}
        way={wayTo(line)}
        live={live}
        menuOpen={menu?.about === id}
        onMenu={(button) => { toggle(id, button); }}
      />
    );
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
        {tabs.refused !== undefined && (
          <p class="people-note" role="status">{explain(tabs.refused, momentOf)}</p>
        )}
        {tabs.lines.size === 0 ? (
          tabs.refused === undefined && <p class="people-note muted">Select a person in the list to send a direct message.</p>
        ) : (
          <div class="tabs-scroller">
            <ul class="tabs-list">{linesOf(tabs).map(row)}</ul>
            {archived.length > 0 && (
              <details class="tabs-archive">
                <summary>
                  Archived <span class="people-count">{archived.length}</span>
                </summary>
                <ul class="tabs-list">{archived.map(row)}</ul>
              </details>
            )}
          </div>
        )}
        {next !== undefined && (
          <button type="button" class="button button-quiet" disabled={!live} onClick={() => { actions.moreTabs(next); }}>
            More conversations
          </button>
        )}
        {blocks.size > 0 && (
          <button type="button" class="button button-quiet tabs-blocked" aria-haspopup="dialog" onClick={onBlocked}>
            <BlockIcon />
            Blocked people <span class="people-count">{blocks.size}</span>
          </button>
        )}
        {menu !== undefined && about !== undefined && (
          <Menu
            label={`Options for ${titleOf(about.conversation, names, me)}`}
            anchor={menu.anchor}
            items={conversationItems(about, state, actions, onBlock)}
            onClose={close}
          />
        )}
      </nav>
      <div class="tabs-scrim" onClick={onClose} />
    </>
  );
}
