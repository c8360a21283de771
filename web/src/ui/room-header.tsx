import type { JSX, RefObject } from "preact";
import type { Conversation } from "../protocol/conversation";
import { headcount } from "../room/people";
import { statusOf, type RoomState } from "../room/state";
import { otherOf } from "../room/tabs";
import { Avatar } from "./avatar";
import { ConnectionStatus } from "./connection-status";
import { BackIcon, PeopleIcon, SearchIcon, TabsIcon } from "./icons";
import markUrl from "./mark.svg";
import { Menu, type MenuItem } from "./menu";
import { MenuButton } from "./menu-button";
import { useMenu } from "./use-menu";
import { SEARCH_KEYS } from "./use-search-keys";

export type RoomHeaderProps = {
  readonly state: RoomState;
  readonly title: string;
  /** The private conversation that is shown in the room's place. */
  readonly beside: Conversation | undefined;
  /** What the room is called. */
  readonly room: string;
  /** How one is called. */
  readonly name: string;
  /** How many messages wait in private conversations that are not shown. */
  readonly waiting: number;
  /** Which panel covers the page, where they do not stand beside it. */
  readonly drawer: "tabs" | "people" | undefined;
  readonly tabsToggle: RefObject<HTMLButtonElement | null>;
  readonly peopleToggle: RefObject<HTMLButtonElement | null>;
  readonly onDrawer: (which: "tabs" | "people") => void;
  /** What can be done with the private conversation. */
  readonly items: readonly MenuItem[];
  readonly onSearch: () => void;
  /** From a private conversation to the room. */
  readonly onBack: () => void;
  /** For guests: who comes from a site is called as it says. */
  readonly onRename: (() => void) | undefined;
  readonly onReconnect: () => void;
  readonly onReenter: () => void;
};

/** What the room is called and about, how the connection is, and who one is. */
export function RoomHeader(props: RoomHeaderProps): JSX.Element {
  const { state, title, beside, room, name, drawer, peopleToggle, items, onDrawer, onSearch, onBack } = props;
  const { onRename, onReconnect, onReenter } = props;
  const { menu, toggle, close } = useMenu<"conversation">();
  const here = headcount(state.people);
  const topic = beside === undefined ? (state.conversation?.topic ?? "") : statusWords(beside, state);
  return (
    <header class="room-header">
      <TabsToggle {...props} />
      {beside === undefined ? (
        <img class="mark" src={markUrl} alt="" width="32" height="32" />
      ) : (
        <button
          type="button"
          class="button button-quiet header-back"
          aria-label={`Back to ${room}`}
          title={`Back to ${room}`}
          onClick={onBack}
        >
          <BackIcon />
        </button>
      )}
      <div class="room-title">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {topic !== "" && (
          <p class="room-topic muted" dir="auto" title={topic}>
            {topic}
          </p>
        )}
      </div>
      <ConnectionStatus link={state.link} onReconnect={onReconnect} onReenter={onReenter} />
      <button
        type="button"
        class="button search-open"
        aria-label="Search messages"
        aria-haspopup="dialog"
        aria-keyshortcuts={SEARCH_KEYS}
        title="Search messages (Ctrl+K or /)"
        onClick={onSearch}
      >
        <SearchIcon />
        <span class="search-open-words">Search</span>
        <kbd>/</kbd>
      </button>
      {beside === undefined && (
        <button
          type="button"
          ref={peopleToggle}
          class="button button-quiet people-toggle"
          aria-expanded={drawer === "people"}
          aria-controls="people"
          aria-label={here === undefined ? "People here" : `People here: ${here}`}
          onClick={() => { onDrawer("people"); }}
        >
          <PeopleIcon />
          {here?.toLocaleString()}
        </button>
      )}
      {items.length > 0 && (
        <MenuButton
          label={`Options for ${title}`}
          open={menu !== undefined}
          onToggle={(button) => { toggle("conversation", button); }}
          class="header-menu"
        />
      )}
      {menu !== undefined && items.length > 0 && (
        <Menu label={`Options for ${title}`} anchor={menu.anchor} items={items} onClose={close} />
      )}
      {onRename ? (
        <button type="button" class="button button-quiet me" aria-label={`Change your name, ${name}`} onClick={onRename}>
          <Me name={name} />
        </button>
      ) : (
        <span class="me">{name !== "" && <Me name={name} />}</span>
      )}
    </header>
  );
}

/** Where the conversations do not stand beside the talk. */
function TabsToggle({ waiting, drawer, tabsToggle, onDrawer }: RoomHeaderProps): JSX.Element {
  return (
    <button
      type="button"
      ref={tabsToggle}
      class="button button-quiet tabs-toggle"
      aria-expanded={drawer === "tabs"}
      aria-controls="tabs"
      aria-label={waiting === 0 ? "Conversations" : `Conversations: ${waiting} unread`}
      onClick={() => { onDrawer("tabs"); }}
    >
      <TabsIcon />
      {waiting > 0 && <span class="tab-unread">{waiting > 99 ? "99+" : waiting}</span>}
    </button>
  );
}

/** Whether the other one is here. */
function statusWords(beside: Conversation, state: RoomState): string {
  const other = otherOf(beside, state.me);
  if (other === undefined) return "";
  // What was known before the connection went may not be so any more.
  if (state.link.phase !== "online") return "Direct message";
  const status = statusOf(state, other);
  return status === undefined ? "Direct message · not online" : `Direct message · ${status}`;
}

function Me({ name }: { readonly name: string }): JSX.Element {
  return (
    <>
      <Avatar name={name} small />
      <bdi class="me-name">{name}</bdi>
    </>
  );
}
