import type { Channel } from "phoenix";
import { ask, type Answer } from "./ask";
import { parseConversation } from "./conversation";
import { InTurn } from "./in-turn";
import { parsePage } from "./joined";
import { listen } from "./listen";
import { all, fields, type Fields } from "./payload";
import { parseCursors, parseGone, parseKept, parseSaid, parseTab, parseTabsNext, type Keeping, type Tab, type TabChange, type TabsNext } from "./tab";

/** Lines that are asked for at once. */
const LINES_MAX = 50;
/** Lines that are sought at once; the server lets 24 questions of a topic wait. */
const SOUGHT_MAX = 4;

/** What the own topic tells of the conversations tab, and the ways to ask for more of it. It keeps no line. */
export class TabNews {
  readonly #channel: Channel;
  readonly #emit: (change: TabChange) => void;
  /** The conversations of the lines that were told. */
  readonly #known = new Set<string>();
  readonly #seeking = new InTurn(SOUGHT_MAX);
  #listing = false;

  constructor(channel: Channel, me: string, emit: (change: TabChange) => void) {
    this.#channel = channel;
    this.#emit = emit;
    listen(channel, "msg:new", parseSaid, ({ conversation, message }) => {
      const { sender, mentions } = message;
      if (this.#known.has(conversation)) {
        emit({ kind: "said", conversation, message, mine: sender === me, forMe: mentions.includes(me) });
      } else {
        void this.#listAgain();
      }
    });
    for (const event of ["msg:edit", "msg:delete"]) {
      listen(channel, event, parseSaid, ({ conversation, message }) => { emit({ kind: "edited", conversation, message }); });
    }
    listen(channel, "conversation:new", (payload) => parseConversation(fields(payload)["conversation"]), (conversation) => {
      this.#known.add(conversation.id);
      emit({ kind: "began", conversation });
    });
    listen(channel, "member:out", parseGone, ({ conversation, person }) => {
      if (person !== me) return;
      this.#known.delete(conversation);
      emit({ kind: "gone", conversation });
    });
    listen(channel, "cursors", parseCursors, (cursors) => { emit({ kind: "read", ...cursors }); });
    listen(channel, "conversation:kept", parseKept, (kept) => { emit({ kind: "kept", ...kept }); });
    listen(channel, "conversations:changed", fields, () => void this.#listAgain());
  }

  /** The first lines, as an answer has them: `{"conversations": […], "next": {…}}`. */
  list(lines: Fields): void {
    this.#known.clear();
    this.#tell("listed", lines);
  }

  /** Brings the lines that follow. */
  async more(before: TabsNext): Promise<void> {
    const answer = await ask(this.#channel, "conversations", { before, limit: LINES_MAX });
    if (answer.ok) this.#tell("continued", fields(answer.response));
  }

  /**
   * Mutes a conversation or puts it away, or takes that back. What is put away counts as read: else it would come back at
   * once.
   */
  async keep({ conversation: { id, last }, unread }: Tab, keeping: Keeping): Promise<Answer> {
    if ("archived" in keeping && keeping.archived && unread > 0) {
      const read = await ask(this.#channel, "read", { conversation: id, seq: last });
      if (!read.ok) return read;
    }
    const answer = await ask(this.#channel, "keep", { conversation: id, ...keeping });
    const kept = answer.ok ? parseKept({ ...fields(fields(answer.response)["member"]), conversation: id }) : undefined;
    if (kept !== undefined) this.#emit({ kind: "kept", ...kept });
    return answer;
  }

  /** Brings the line of one conversation, however far down it stands. */
  find(conversation: string): void {
    this.#seeking.run(async () => {
      if (this.#known.has(conversation)) return;
      const page = await ask(this.#channel, "history", { conversation, limit: 1 });
      const active = page.ok ? parsePage(page.response)?.conversation.active : undefined;
      if (active === undefined) return;
      // The lines stand in the order of their last activity: it is the first behind a place a millisecond later, unless
      // another one happens to stand there.
      const answer = await ask(this.#channel, "conversations", { before: { active: active + 1, conversation }, limit: 2 });
      const lines = answer.ok ? all(fields(answer.response)["conversations"], parseTab) : [];
      const tab = lines.find((line) => line.conversation.id === conversation);
      if (tab === undefined || this.#known.has(conversation)) return;
      this.#known.add(conversation);
      this.#emit({ kind: "found", tab });
    });
  }

  /** One listing at a time: what comes meanwhile is in it, or is told once more. */
  async #listAgain(): Promise<void> {
    if (this.#listing) return;
    this.#listing = true;
    const answer = await ask(this.#channel, "conversations", { limit: LINES_MAX });
    this.#listing = false;
    if (answer.ok) this.list(fields(answer.response));
  }

  #tell(kind: "listed" | "continued", lines: Fields): void {
    const tabs = all(lines["conversations"], parseTab);
    for (const { conversation } of tabs) this.#known.add(conversation.id);
    this.#emit({ kind, tabs, next: parseTabsNext(lines["next"]) });
  }
}
