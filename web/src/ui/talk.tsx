import type { JSX } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import type { Message } from "../protocol/message";
import { quoteWords } from "../room/excerpt";
import { hasLater, lastOf } from "../room/messages";
import { nameOf } from "../room/names";
import { quoteOf } from "../room/quotes";
import type { RoomState } from "../room/state";
import { explainMute } from "../room/words";
import { itemOf } from "./anchor";
import { Composer } from "./composer";
import { DeleteDialog } from "./delete-dialog";
import { FaultNote } from "./fault-note";
import { focusItem } from "./list-keys";
import type { MessageHandlers } from "./message-item";
import { LossNote } from "./loss-note";
import { Menu, type MenuItem } from "./menu";
import { MessageList } from "./message-list";
import { momentOf } from "./moments";
import { OutboxList } from "./outbox-list";
import { TypingLine } from "./typing-line";
import type { TalkActions } from "./use-actions";
import { useAnnouncement } from "./use-announcement";
import { useCompose } from "./use-compose";
import { useGoal, type Goal } from "./use-goal";
import { useLooking } from "./use-looking";
import { useMenu } from "./use-menu";
import { useQuotes } from "./use-quotes";
import { useScroll } from "./use-scroll";
import { useSought } from "./use-sought";
import { useTyping } from "./use-typing";

export type TalkProps = {
  readonly state: RoomState;
  readonly actions: TalkActions;
  /** What its draft is kept under. */
  readonly place: string;
  /** What the room is called. */
  readonly title: string;
  /** What can be done with somebody who said something. */
  readonly itemsOf?: (person: string) => readonly MenuItem[];
  /** Stands where one would write, if one cannot. */
  readonly closed?: JSX.Element | undefined;
  /** A message that was chosen elsewhere. */
  readonly goal: Goal | undefined;
};

/** What is said, and where one says something. */
export function Talk({ state, actions, place, title, itemsOf, closed, goal }: TalkProps): JSX.Element {
  const { link, me, names, messages, quotes, standing, outbox, fault } = state;
  const online = link.phase === "online";
  const { compose, field, writing } = useCompose(place, online, actions);
  const [doomed, setDoomed] = useState<Message>();
  const [sought, seek] = useSought();
  const { menu, toggle, close } = useMenu<string>();
  const typed = useTyping(online, actions.typing);
  const announcement = useAnnouncement(messages, names, me);
  useQuotes(messages, quotes, online, actions.quote);

  const follow = useCallback((on: boolean) => { actions.note({ type: "followed", on }); }, [actions]);
  const reached = useCallback((seq: number, list: HTMLElement) => {
    const item = itemOf(list, seq);
    if (item) focusItem(item);
    seek(seq);
  }, [seek]);
  const scroll = useScroll({ messages, live: online, bring: actions.bring, follow, reached });
  useGoal(goal, online, scroll.goTo);
  const atEnd = messages.following && !hasLater(messages);
  useLooking({
    seq: atEnd ? messages.shown.at(-1)?.seq : undefined,
    newest: messages.newest,
    online,
    note: actions.note,
    read: actions.read,
  });

  const handlers = useMemo(
    (): MessageHandlers => ({
      onReact: actions.react,
      onReply: writing.reply,
      onEdit: writing.edit,
      onDelete: setDoomed,
      onOpen: scroll.goTo,
      onPerson: toggle,
    }),
    [actions, writing, scroll.goTo, toggle],
  );
  const editing = compose.editing?.message.seq;
  // A keystroke in the composer is nothing to the list.
  const list = useMemo(
    () => (
      <MessageList
        state={state}
        actions={actions}
        handlers={handlers}
        scroll={scroll}
        sought={sought}
        editing={editing}
        onLeave={writing.focus}
      />
    ),
    [state, actions, handlers, scroll, sought, editing, writing],
  );

  return (
    <>
      {list}
      {menu !== undefined && itemsOf !== undefined && (
        <Menu
          label={`Options for ${nameOf(names, menu.about)}`}
          anchor={menu.anchor}
          items={itemsOf(menu.about)}
          onClose={close}
        />
      )}
      <div class="visually-hidden" aria-live="polite">
        {announcement && <p key={announcement.seq}>{announcement.words}</p>}
      </div>
      {state.lost !== undefined && (
        <LossNote why={state.lost} onDismiss={() => { actions.note({ type: "loss_dismissed" }); }} />
      )}
      {fault && <FaultNote fault={fault} onDismiss={() => { actions.note({ type: "fault_dismissed" }); }} />}
      <OutboxList outbox={outbox} onRetry={actions.resend} onDiscard={actions.discard} />
      <TypingLine typing={state.typing} names={names} />
      {link.phase === "refused" && messages.shown.length === 0 ? null : closed ?? (standing.speaks ? (
        <Composer
          composing={{ compose, field, writing }}
          link={link}
          title={title}
          answered={answeredBy(compose.replyTo, state)}
          slowModeS={state.conversation?.slowModeS ?? 0}
          muted={standing.muted === undefined ? undefined : explainMute(standing.muted.until, momentOf)}
          last={me === undefined ? undefined : lastOf(messages, me)}
          onTyped={typed}
          onSent={scroll.goToEnd}
        />
      ) : (
        <p class="composer-closed muted">You can read in this room, but not write.</p>
      ))}
      {doomed && (
        <DeleteDialog
          text={doomed.text}
          author={doomed.sender === me ? undefined : nameOf(names, doomed.sender)}
          onDelete={() => { actions.remove(doomed); }}
          onClose={() => {
            setDoomed(undefined);
            writing.focus();
          }}
        />
      )}
    </>
  );
}

function answeredBy(
  replyTo: number | undefined,
  { messages, quotes, names }: RoomState,
): { name: string; text: string } | undefined {
  if (replyTo === undefined) return undefined;
  const quote = quoteOf(replyTo, messages, quotes);
  return {
    name: quote.kind === "known" ? nameOf(names, quote.message.sender) : "…",
    text: quoteWords(quote),
  };
}
