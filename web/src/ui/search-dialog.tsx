import type { JSX, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Hit } from "../protocol/search";
import type { RoomAddress } from "../room/address";
import { isAnswered } from "../room/search";
import { searchWords } from "../room/search-words";
import type { RoomState } from "../room/state";
import { CloseIcon, SearchIcon } from "./icons";
import { momentOf } from "./moments";
import { SearchHit } from "./search-hit";
import type { RoomActions } from "./use-room";
import { useSearch } from "./use-search";
import { isSearchKey } from "./use-search-keys";

/** The server takes as many bytes. */
const QUERY_LENGTH_MAX = 256;

export type SearchDialogProps = {
  readonly state: RoomState;
  readonly actions: RoomActions;
  readonly address: RoomAddress;
  /** The conversation that is shown: in it alone can be searched, too. */
  readonly current: { readonly id: string; readonly title: string } | undefined;
  /** Shows that message. */
  readonly onChoose: (hit: Hit) => void;
  readonly onClose: () => void;
};

/** Messages by their words. ↓ and ↑ go through what is found, Enter shows it, Escape closes. */
export function SearchDialog({ state, actions, address, current, onChoose, onClose }: SearchDialogProps): JSX.Element {
  const online = state.link.phase === "online";
  const { search, type, narrow, submit, more } = useSearch(online, actions.search);
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const { hits, next, asking, fault, answered } = search;
  const words = searchWords(search, online, momentOf);

  useLayoutEffect(() => {
    dialog.current?.showModal();
    field.current?.focus();
  }, []);

  function close(): void {
    dialog.current?.close();
  }

  return (
    <dialog
      ref={dialog}
      class="dialog search"
      aria-label="Search messages"
      onClose={onClose}
      onKeyDown={(event) => {
        if (isSearchKey(event)) {
          event.preventDefault();
          field.current?.select();
        } else {
          walk(event);
        }
      }}
      onClick={({ target, currentTarget }) => {
        // What lies around it is part of it.
        if (target === currentTarget) close();
      }}
    >
      <div class="search-box">
        <form
          class="search-form"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <SearchIcon />
          <input
            ref={field}
            type="text"
            class="search-field"
            role="searchbox"
            dir="auto"
            aria-label="Search for"
            aria-describedby="search-words"
            placeholder="Search messages"
            enterkeyhint="search"
            autoComplete="off"
            spellcheck={false}
            maxLength={QUERY_LENGTH_MAX}
            value={search.query}
            onInput={({ currentTarget: { value } }) => { type(value); }}
          />
          <button type="button" class="button button-quiet search-close" aria-label="Close" onClick={close}>
            <CloseIcon />
          </button>
        </form>
        {current !== undefined && (
          <label class="search-within">
            <input
              type="checkbox"
              checked={search.within !== undefined}
              onChange={({ currentTarget: { checked } }) => { narrow(checked ? current.id : undefined); }}
            />
            <span>
              Only in <bdi>{current.title}</bdi>
            </span>
          </label>
        )}
        <p id="search-words" class={`search-words ${fault === undefined ? "muted" : "search-problem"}`} role="status">
          {words}
        </p>
        {hits.length > 0 && (
          <ol
            class={`search-hits${isAnswered(search) ? "" : " search-stale"}`}
            aria-label="Messages found"
            aria-busy={asking !== undefined}
          >
            {hits.map((hit) => (
              <SearchHit
                key={hit.id}
                hit={hit}
                query={answered?.query ?? ""}
                state={state}
                address={address}
                onChoose={() => {
                  close();
                  onChoose(hit);
                }}
              />
            ))}
          </ol>
        )}
        {next !== undefined && isAnswered(search) && (
          <button
            type="button"
            class="button button-quiet search-more"
            disabled={!online || asking !== undefined}
            onClick={more}
          >
            Older messages
          </button>
        )}
      </div>
    </dialog>
  );
}

/** From the field to what was found, and through it. */
function walk(event: TargetedKeyboardEvent<HTMLDialogElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || event.isComposing) return;
  const stops = Array.from(event.currentTarget.querySelectorAll<HTMLElement>(".search-field, .hit:not(:disabled), .search-more"));
  const at = stops.findIndex((stop) => stop === document.activeElement);
  if (at === -1) return;
  event.preventDefault();
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
}
