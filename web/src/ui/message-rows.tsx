import type { JSX } from "preact";
import { isRoom } from "../protocol/conversation";
import type { Message } from "../protocol/message";
import { quoteWords } from "../room/excerpt";
import { nameOf } from "../room/names";
import { quoteOf } from "../room/quotes";
import { mayDelete, mayEdit } from "../room/standing";
import type { RoomState } from "../room/state";
import { firstNew } from "../room/unread";
import { MessageItem, type MessageHandlers } from "./message-item";
import { dayOf } from "./moments";
import { useActive } from "./use-active";

/** Messages of one person this close together share one heading. */
const GROUP_MS_MAX = 5 * 60 * 1000;

export type MessageRowsProps = {
  readonly state: RoomState;
  readonly handlers: MessageHandlers;
  readonly live: boolean;
  readonly sought: number | undefined;
  readonly editing: number | undefined;
};

/** The messages, the days between them, and the line above what is new. */
export function MessageRows({ state, handlers, live, sought, editing }: MessageRowsProps): JSX.Element {
  const { messages, unread, names, standing, me } = state;
  const active = useActive();
  // In private it is clear who the other one is, and what can be done stands above the talk.
  const isRoomTalk = state.conversation !== undefined && isRoom(state.conversation);
  const divider = firstNew(unread, messages.shown, me);
  return (
    <ol class="messages-list" {...active.handlers}>
      {messages.shown.flatMap((message, at) => {
        const { seq, sender } = message;
        const previous = messages.shown[at - 1];
        const newDay = previous === undefined || !sameDay(previous.at, message.at);
        const isNew = divider === seq;
        return [
          newDay && <li key={`day ${seq}`} class="day">{dayOf(message.at)}</li>,
          isNew && <li key="new" class="new-messages">New messages</li>,
          <MessageItem
            key={seq}
            message={message}
            name={nameOf(names, sender)}
            guest={names.get(sender)?.guest === true}
            opens={newDay || isNew || message.replyTo !== undefined || !continues(previous, message)}
            {...quoteFor(message, state)}
            forMe={me !== undefined && message.mentions.includes(me)}
            active={active.seq === seq}
            focused={active.seq === seq && active.focused}
            sought={sought === seq}
            edited={editing === seq}
            speaks={standing.speaks}
            editable={mayEdit(standing, me, message)}
            deletable={mayDelete(standing, me, message)}
            approachable={live && isRoomTalk && sender !== me && !sender.startsWith("~")}
            live={live}
            handlers={handlers}
          />,
        ];
      })}
    </ol>
  );
}

function quoteFor(
  { replyTo }: Message,
  { messages, quotes, names }: RoomState,
): { quoteName: string | undefined; quoteText: string | undefined } {
  if (replyTo === undefined) return { quoteName: undefined, quoteText: undefined };
  const quote = quoteOf(replyTo, messages, quotes);
  return {
    quoteName: quote.kind === "known" ? nameOf(names, quote.message.sender) : undefined,
    quoteText: quoteWords(quote),
  };
}

/** Compared by parts: this is asked for hundreds of messages at a time. */
function sameDay(one: number, other: number): boolean {
  const [first, second] = [new Date(one), new Date(other)];
  return (
    first.getDate() === second.getDate() &&
    first.getMonth() === second.getMonth() &&
    first.getFullYear() === second.getFullYear()
  );
}

function continues(previous: Message, message: Message): boolean {
  return previous.sender === message.sender && message.at - previous.at < GROUP_MS_MAX;
}
