import { Component, type JSX } from "preact";
import type { Message } from "../protocol/message";
import { Avatar } from "./avatar";
import { MessageActions } from "./message-actions";
import { timeOf } from "./moments";
import { Quote } from "./quote";
import { ReactionList } from "./reaction-list";
import { RichText } from "./rich-text";
import { toneOf } from "./tone";

/** What is done with messages. It stays the same object, or every message is drawn anew. */
export type MessageHandlers = {
  readonly onReact: (message: Message, emoji: string, on: boolean) => void;
  readonly onReply: (message: Message) => void;
  readonly onEdit: (message: Message) => void;
  readonly onDelete: (message: Message) => void;
  readonly onOpen: (seq: number) => void;
  /** Shows what can be done with who said something, or no more. */
  readonly onPerson: (person: string, button: HTMLElement) => void;
};

export type MessageItemProps = {
  readonly message: Message;
  readonly name: string;
  readonly guest: boolean;
  /** Whether it begins what somebody says, and is headed by their name. */
  readonly opens: boolean;
  /** Who wrote what it answers, as far as that is known. */
  readonly quoteName: string | undefined;
  /** What that says. */
  readonly quoteText: string | undefined;
  /** Whether it is for the reader: it names them. */
  readonly forMe: boolean;
  /** Whether its actions are shown. */
  readonly active: boolean;
  /** Whether they can be reached by the tabulator key. */
  readonly focused: boolean;
  /** Whether the reader was led to it. */
  readonly sought: boolean;
  readonly edited: boolean;
  readonly speaks: boolean;
  readonly editable: boolean;
  readonly deletable: boolean;
  /** Whether anything can be done with who wrote it. */
  readonly approachable: boolean;
  readonly live: boolean;
  readonly handlers: MessageHandlers;
};

/** One message. Drawn anew only where something of it changed: there are hundreds, and they hear of every keystroke. */
export class MessageItem extends Component<MessageItemProps> {
  override shouldComponentUpdate(next: MessageItemProps): boolean {
    const old: Readonly<Record<string, unknown>> = this.props;
    return Object.entries(next).some(([name, value]) => old[name] !== value);
  }

  override render(): JSX.Element {
    const { message, name, opens, active, focused, speaks, editable, deletable, live, handlers } = this.props;
    return (
      <li class={classesOf(this.props)} data-seq={message.seq}>
        {opens ? <Heading {...this.props} /> : <Beginning message={message} name={name} />}
        <Said {...this.props} />
        {active && live && message.deleted === undefined && (
          <MessageActions
            message={message}
            reachable={focused}
            speaks={speaks}
            editable={editable}
            deletable={deletable}
            onReact={(emoji, on) => { handlers.onReact(message, emoji, on); }}
            onReply={() => { handlers.onReply(message); }}
            onEdit={() => { handlers.onEdit(message); }}
            onDelete={() => { handlers.onDelete(message); }}
          />
        )}
      </li>
    );
  }
}

function classesOf({ opens, forMe, active, sought, edited }: MessageItemProps): string {
  const classes = {
    "message-opening": opens,
    "message-for-me": forMe,
    "message-active": active,
    "message-sought": sought,
    "message-in-edit": edited,
  };
  return ["message", ...Object.entries(classes).flatMap(([name, on]) => (on ? [name] : []))].join(" ");
}

function Heading({ message, name, guest, approachable, focused, handlers }: MessageItemProps): JSX.Element {
  const tone = `tone-${toneOf(name)}`;
  return (
    <>
      <Avatar name={name} />
      <div class="message-heading">
        {approachable ? (
          <button
            type="button"
            class={`message-name message-person ${tone}`}
            tabIndex={focused ? 0 : -1}
            aria-haspopup="menu"
            onClick={({ currentTarget }) => { handlers.onPerson(message.sender, currentTarget); }}
          >
            <bdi>{name}</bdi>
          </button>
        ) : (
          <bdi class={`message-name ${tone}`}>{name}</bdi>
        )}
        {guest && <span class="tag">guest</span>}
        <time dateTime={new Date(message.at).toISOString()}>{timeOf(message.at)}</time>
      </div>
    </>
  );
}

/** Whoever reads by ear hears the name each time; the time stands at the side of who points at the message. */
function Beginning({ message, name }: Pick<MessageItemProps, "message" | "name">): JSX.Element {
  return (
    <>
      <span class="visually-hidden">{name}: </span>
      <time class="message-time" dateTime={new Date(message.at).toISOString()}>
        {timeOf(message.at)}
      </time>
    </>
  );
}

function Said({ message, quoteName, quoteText, focused, live, speaks, handlers }: MessageItemProps): JSX.Element {
  if (message.deleted !== undefined) {
    const words = message.deleted.moderated ? "A moderator deleted this message." : "This message was deleted.";
    return <p class="message-deleted muted">{words}</p>;
  }
  return (
    <>
      {message.replyTo !== undefined && quoteText !== undefined && (
        <Quote seq={message.replyTo} name={quoteName} text={quoteText} onOpen={handlers.onOpen} />
      )}
      <RichText text={message.text} />
      {message.edited && <span class="message-edited muted">edited</span>}
      {message.reactions.length > 0 && (
        <ReactionList
          reactions={message.reactions}
          enabled={live && speaks}
          reachable={focused}
          onReact={(emoji, on) => { handlers.onReact(message, emoji, on); }}
        />
      )}
    </>
  );
}
