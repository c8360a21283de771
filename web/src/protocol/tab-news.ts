import type { Channel } from "phoenix";
import { ask } from "./ask";
import { parseConversation } from "./conversation";
import { listen } from "./listen";
import { all, fields, type Fields } from "./payload";
import { parseCursors, parseKept, parseSaid, parseTab, parseTabsNext, type TabChange, type TabsNext } from "./tab";

/** Lines that are asked for at once. */
const LINES_MAX = 50;

/** What the own topic tells of the conversations tab, and the ways to ask for more of it. It keeps no line. */
export class TabNews {
  readonly #channel: Channel;
  readonly #emit: (change: TabChange) => void;
  /** The conversations of the lines that were told. */
  readonly #known = new Set<string>();
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
