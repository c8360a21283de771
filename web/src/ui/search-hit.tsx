import type { JSX } from "preact";
import { isRoom, type Conversation } from "../protocol/conversation";
import type { Hit } from "../protocol/search";
import { messagePath, type RoomAddress } from "../room/address";
import { markedIn } from "../room/marks";
import { nameOf } from "../room/names";
import type { RoomState } from "../room/state";
import { titleOf } from "../room/tabs";
import { Avatar } from "./avatar";
import { momentOf } from "./moments";
import { toneOf } from "./tone";

export type SearchHitProps = {
  readonly hit: Hit;
  /** What it was found by. */
  readonly query: string;
  readonly state: RoomState;
  readonly address: RoomAddress;
  readonly onChoose: () => void;
};

/** A message that was found: who said it where and when, with the words that were sought. It leads there. */
export function SearchHit({ hit, query, state, address, onChoose }: SearchHitProps): JSX.Element {
  const { message } = hit;
  const name = nameOf(state.names, message.sender);
  const conversation = conversationOf(hit, state);
  const inside = (
    <>
      <Avatar name={name} small />
      <span class="hit-words">
        <span class="hit-heading">
          <bdi class={`hit-name tone-${toneOf(name)}`}>{name}</bdi>
          <span class="hit-place">{conversation === undefined ? "…" : <Place of={conversation} state={state} />}</span>
          <time dateTime={new Date(message.at).toISOString()}>{momentOf(message.at)}</time>
        </span>
        <span class="hit-text" dir="auto">
          {markedIn(message.text, query).map(({ text, marked }) => (marked ? <mark>{text}</mark> : text))}
        </span>
      </span>
    </>
  );
  const other = otherRoom(conversation, state);
  return (
    <li>
      {other === undefined ? (
        // Where it stands is learnt in a moment.
        <button type="button" class="hit" disabled={conversation === undefined} onClick={onChoose}>
          {inside}
        </button>
      ) : (
        <a class="hit" href={messagePath({ ...address, room: other }, message.seq)}>
          {inside}
        </a>
      )}
    </li>
  );
}

function Place({ of, state }: { readonly of: Conversation; readonly state: RoomState }): JSX.Element {
  const title = <bdi>{titleOf(of, state.names, state.me)}</bdi>;
  return of.kind === "direct" ? <>in a direct message with {title}</> : <>in {title}</>;
}

function conversationOf({ conversation }: Hit, { conversation: room, tabs }: RoomState): Conversation | undefined {
  return conversation === room?.id ? room : tabs.lines.get(conversation)?.conversation;
}

/** Other rooms are other pages. */
function otherRoom(conversation: Conversation | undefined, { conversation: room }: RoomState): string | undefined {
  if (conversation === undefined || conversation.id === room?.id || !isRoom(conversation)) return undefined;
  return conversation.name;
}
