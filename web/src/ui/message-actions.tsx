import type { ComponentChildren, JSX, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../protocol/message";
import { isMine, OFFERED } from "../room/reactions";
import { DeleteIcon, EditIcon, ReactIcon, ReplyIcon } from "./icons";

export type MessageActionsProps = {
  readonly message: Message;
  /** Whether they can be reached by the tabulator key. */
  readonly reachable: boolean;
  readonly editable: boolean;
  readonly deletable: boolean;
  /** False where one only looks. */
  readonly speaks: boolean;
  readonly onReact: (emoji: string, on: boolean) => void;
  readonly onReply: () => void;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
};

/** What can be done with a message. ← and → go from one to the next. */
export function MessageActions(props: MessageActionsProps): JSX.Element | null {
  const { message, reachable, editable, deletable, speaks, onReact, onReply, onEdit, onDelete } = props;
  const tabIndex = reachable ? 0 : -1;
  const [choosing, setChoosing] = useState(false);
  const bar = useRef<HTMLDivElement>(null);
  const begun = useRef(false);

  // The buttons take each other's place: the focus goes with them.
  useLayoutEffect(() => {
    if (begun.current) bar.current?.querySelector("button")?.focus();
    begun.current = true;
  }, [choosing]);

  function onKeyDown(event: TargetedKeyboardEvent<HTMLDivElement>): void {
    if (event.key === "Escape" && choosing) {
      // The list would take it for a way back to the composer.
      event.stopPropagation();
      setChoosing(false);
    }
    moveFocus(event);
  }

  if (!speaks && !deletable) return null;
  return (
    <div ref={bar} class="message-actions" role="toolbar" aria-label="Message actions" onKeyDown={onKeyDown}>
      {choosing ? (
        OFFERED.map(({ emoji, name }) => (
          <Action
            key={emoji}
            name={name}
            tabIndex={tabIndex}
            pressed={isMine(message.reactions, emoji)}
            onClick={() => {
              onReact(emoji, !isMine(message.reactions, emoji));
              setChoosing(false);
            }}
          >
            <span class="reaction-emoji">{emoji}</span>
          </Action>
        ))
      ) : (
        <>
          {speaks && (
            <Action name="React" tabIndex={tabIndex} onClick={() => { setChoosing(true); }}>
              <ReactIcon />
            </Action>
          )}
          {speaks && (
            <Action name="Reply" keys="R" tabIndex={tabIndex} onClick={onReply}>
              <ReplyIcon />
            </Action>
          )}
          {editable && (
            <Action name="Edit" keys="E" tabIndex={tabIndex} onClick={onEdit}>
              <EditIcon />
            </Action>
          )}
          {deletable && (
            <Action name="Delete" keys="Delete" tabIndex={tabIndex} onClick={onDelete}>
              <DeleteIcon />
            </Action>
          )}
        </>
      )}
    </div>
  );
}

type ActionProps = {
  readonly name: string;
  /** The key that does the same while the message has the focus. */
  readonly keys?: string;
  readonly tabIndex: number;
  readonly pressed?: boolean;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
};

function Action({ name, keys, tabIndex, pressed, onClick, children }: ActionProps): JSX.Element {
  return (
    <button
      type="button"
      class="action"
      tabIndex={tabIndex}
      aria-label={name}
      title={keys === undefined ? name : `${name} (${keys})`}
      {...(keys === undefined ? {} : { "aria-keyshortcuts": keys })}
      {...(pressed === undefined ? {} : { "aria-pressed": pressed })}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

function moveFocus(event: TargetedKeyboardEvent<HTMLDivElement>): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const buttons = Array.from(event.currentTarget.querySelectorAll("button"));
  const at = buttons.findIndex((button) => button === document.activeElement);
  buttons[(at + step + buttons.length) % buttons.length]?.focus();
}
