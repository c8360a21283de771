import { useEffect, useRef } from "preact/hooks";
import type { Messages } from "../room/messages";
import { unquoted, type Quotes } from "../room/quotes";

/** Asks for the messages that those shown answer, each once for each connection. */
export function useQuotes(messages: Messages, quotes: Quotes, online: boolean, quote: (seq: number) => void): void {
  const asked = useRef(new Set<number>());
  const { shown } = messages;

  useEffect(() => {
    if (!online) {
      asked.current.clear();
      return;
    }
    for (const seq of unquoted(messages, quotes)) {
      if (asked.current.has(seq)) continue;
      asked.current.add(seq);
      quote(seq);
    }
    // The messages change with every reaction; what they answer changes with what is shown.
  }, [shown, quotes, online, quote]);
}
