import type { JSX } from "preact";
import type { Entry, Message, Messages } from "../lobby/messages";
import { Avatar } from "./avatar";
import { ArrowDownIcon } from "./icons";
import { toneOf } from "./tone";
import { useStickyScroll } from "./use-sticky-scroll";

/** Messages of one name this close together share one heading. */
const GROUP_MS_MAX = 5 * 60 * 1000;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export function MessageList({ messages }: { readonly messages: Messages }): JSX.Element {
  const { scroller, unseen, toEnd } = useStickyScroll(messages.nextId);
  const { entries } = messages;
  return (
    <div class="messages">
      <div ref={scroller} class="messages-scroller" tabIndex={0} role="log" aria-label="Messages">
        {entries.length === 0 && <p class="messages-empty muted">Nothing said yet. Say hello!</p>}
        <ol class="messages-list">
          {entries.map((entry, at) => (
            <EntryItem key={entry.id} entry={entry} previous={entries[at - 1]} />
          ))}
        </ol>
      </div>
      {unseen > 0 && (
        <button type="button" class="button messages-unseen" onClick={toEnd}>
          <ArrowDownIcon />
          {unseen === 1 ? "1 new message" : `${unseen} new messages`}
        </button>
      )}
    </div>
  );
}

function EntryItem({ entry, previous }: { readonly entry: Entry; readonly previous: Entry | undefined }): JSX.Element {
  if (entry.kind === "gap") {
    return <li class="gap">Back online. What was said meanwhile is not shown.</li>;
  }
  return continues(previous, entry) ? <Continuation message={entry} /> : <Opening message={entry} />;
}

function continues(previous: Entry | undefined, message: Message): boolean {
  return (
    previous?.kind === "message" && previous.name === message.name && message.at - previous.at < GROUP_MS_MAX
  );
}

function Opening({ message }: { readonly message: Message }): JSX.Element {
  return (
    <li class="message message-opening">
      <Avatar name={message.name} />
      <div class="message-heading">
        <bdi class={`message-name tone-${toneOf(message.name)}`}>{message.name}</bdi>
        <time dateTime={new Date(message.at).toISOString()}>{clock.format(message.at)}</time>
      </div>
      <p class="message-body" dir="auto">
        {message.body}
      </p>
    </li>
  );
}

function Continuation({ message }: { readonly message: Message }): JSX.Element {
  return (
    <li class="message">
      <span class="visually-hidden">{message.name}: </span>
      <p class="message-body" dir="auto">
        {message.body}
      </p>
    </li>
  );
}
