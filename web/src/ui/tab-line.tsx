import type { JSX } from "preact";
import { isRoom } from "../protocol/conversation";
import type { Tab } from "../protocol/tab";
import { excerptOf } from "../room/excerpt";
import { nameOf } from "../room/names";
import { statusOf, type RoomState } from "../room/state";
import { otherOf, titleOf, waitingIn } from "../room/tabs";
import { Avatar } from "./avatar";
import { MuteIcon } from "./icons";
import { MenuButton } from "./menu-button";

/** A larger number says no more. */
const COUNTED_MAX = 99;

export type TabLineProps = {
  readonly line: Tab;
  /** Whether it is the one that is shown: there is nothing to count then. */
  readonly current: boolean;
  readonly state: RoomState;
  /** An address, or what is done. */
  readonly way: string | (() => void);
  /** Whether anything can be done with it now. */
  readonly live: boolean;
  readonly menuOpen: boolean;
  readonly onMenu: (button: HTMLElement) => void;
};

/** One conversation: what it is called, what was said there last, and how much of it is new. */
export function TabLine({ line, current, state, way, live, menuOpen, onMenu }: TabLineProps): JSX.Element {
  const inside = <Inside line={line} current={current} state={state} />;
  const classes = `tab${current ? " tab-current" : ""}`;
  return (
    <li class="tab-row">
      {typeof way === "string" ? (
        <a class={classes} href={way}>
          {inside}
        </a>
      ) : (
        <button type="button" class={classes} {...(current ? { "aria-current": "page" } : {})} onClick={way}>
          {inside}
        </button>
      )}
      {live && (
        <MenuButton
          label={`Options for ${titleOf(line.conversation, state.names, state.me)}`}
          open={menuOpen}
          onToggle={onMenu}
          class="tab-menu"
        />
      )}
    </li>
  );
}

function Inside({ line, current, state }: Pick<TabLineProps, "line" | "current" | "state">): JSX.Element {
  const { conversation, mentions, muted } = line;
  const { me, names } = state;
  const title = titleOf(conversation, names, me);
  const other = otherOf(conversation, me);
  const status = other === undefined ? undefined : statusOf(state, other);
  const count = current ? 0 : waitingIn(line);
  return (
    <>
      <Avatar name={title} small />
      <span class="tab-words">
        <span class="tab-title">
          <bdi>{title}</bdi>
          {status !== undefined && <span class={`tab-status tab-status-${status}`} role="img" aria-label={status} />}
          {muted && (
            <span class="tab-muted" role="img" aria-label="muted">
              <MuteIcon />
            </span>
          )}
        </span>
        <span class="tab-last muted" dir="auto">
          {lastWords(line, state)}
        </span>
      </span>
      {count > 0 && (
        <span class="tab-unread">
          {mentions > 0 && <span aria-hidden="true">@ </span>}
          {count > COUNTED_MAX ? `${COUNTED_MAX}+` : count}
          <span class="visually-hidden"> unread{mentions > 0 ? ", you are mentioned" : ""}</span>
        </span>
      )}
    </>
  );
}

/** In private it is clear who the other one is. */
function lastWords({ conversation, last }: Tab, { me, names }: RoomState): string {
  if (last === undefined) return isRoom(conversation) ? "A room" : "No messages yet";
  const words = last.deleted === undefined ? excerptOf(last.text) : "This message was deleted.";
  if (last.sender === me) return `You: ${words}`;
  return conversation.kind === "direct" ? words : `${nameOf(names, last.sender)}: ${words}`;
}
