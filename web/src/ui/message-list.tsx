import type { JSX } from "preact";
import type { Message } from "../protocol/wire";
import type { Messages } from "../room/messages";
import { nameOf, type Names } from "../room/names";
import { Avatar } from "./avatar";
import { ArrowDownIcon } from "./icons";
import { toneOf } from "./tone";
import { useStickyScroll } from "./use-sticky-scroll";

/** Messages of one person this close together share one heading. */
const GROUP_MS_MAX = 5 * 60 * 1000;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });

export type MessageListProps = {
  readonly messages: Messages;
  readonly names: Names;
  readonly live: boolean;
  /** Asks for what was said before that place. */
  readonly onEarlier: (seq: number) => void;
};

export function MessageList({ messages, names, live, onEarlier }: MessageListProps): JSX.Element {
  const { shown, more, arrived } = messages;
  const [first] = shown;
  const { scroller, unseen, toEnd } = useStickyScroll(arrived, first?.seq);
  return (
    <div class="messages">
      <div ref={scroller} class="messages-scroller" tabIndex={0} role="log" aria-label="Messages">
        {live && first === undefined && <p class="messages-empty muted">Nothing said yet. Say hello!</p>}
        {more && first !== undefined && (
          <button
            type="button"
            class="button button-quiet messages-earlier"
            disabled={!live}
            onClick={() => { onEarlier(first.seq); }}
          >
            Earlier messages
          </button>
        )}
        <ol class="messages-list">
          {shown.map((message, at) => (
            <MessageItem key={message.seq} message={message} previous={shown[at - 1]} names={names} />
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

type MessageItemProps = {
  readonly message: Message;
  readonly previous: Message | undefined;
  readonly names: Names;
};

function MessageItem({ message, previous, names }: MessageItemProps): JSX.Element {
  const name = nameOf(names, message.sender);
  const newDay = previous === undefined || dayOf(previous) !== dayOf(message);
  const opens = previous === undefined || newDay || !continues(previous, message);
  return (
    <>
      {newDay && <li class="day">{dayOf(message)}</li>}
      <li class={`message${opens ? " message-opening" : ""}`}>
        {opens ? (
          <Heading message={message} name={name} guest={names.get(message.sender)?.guest === true} />
        ) : (
          <span class="visually-hidden">{name}: </span>
        )}
        <Body message={message} />
      </li>
    </>
  );
}

function dayOf(message: Message): string {
  return calendar.format(message.at);
}

function continues(previous: Message, message: Message): boolean {
  return previous.sender === message.sender && message.at - previous.at < GROUP_MS_MAX;
}

type HeadingProps = { readonly message: Message; readonly name: string; readonly guest: boolean };

function Heading({ message, name, guest }: HeadingProps): JSX.Element {
  return (
    <>
      <Avatar name={name} />
      <div class="message-heading">
        <bdi class={`message-name tone-${toneOf(name)}`}>{name}</bdi>
        {guest && <span class="tag">guest</span>}
        <time dateTime={new Date(message.at).toISOString()}>{clock.format(message.at)}</time>
      </div>
    </>
  );
}

function Body({ message }: { readonly message: Message }): JSX.Element {
  if (message.deleted) return <p class="message-deleted muted">This message was deleted.</p>;
  return (
    <>
      <p class="message-body" dir="auto">
        {message.text}
      </p>
      {message.edited && <span class="message-edited muted">edited</span>}
      {message.reactions.length > 0 && (
        <ul class="reactions" aria-label="Reactions">
          {message.reactions.map(({ emoji, count }) => (
            <li key={emoji} class="tag">
              {emoji} {count}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
