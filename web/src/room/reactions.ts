import type { Tally } from "../protocol/message";

/** What is offered; what a message has already can be joined as well. */
export const OFFERED: readonly { readonly emoji: string; readonly name: string }[] = [
  { emoji: "👍", name: "Thumbs up" },
  { emoji: "❤️", name: "Heart" },
  { emoji: "😂", name: "Laughing" },
  { emoji: "🎉", name: "Hooray" },
  { emoji: "😮", name: "Surprised" },
  { emoji: "😢", name: "Sad" },
  { emoji: "🙏", name: "Thank you" },
  { emoji: "👀", name: "Eyes" },
];

/** What was told does not say which reactions are one's own: that is known from before, and from who did it. */
export function retally(
  before: readonly Tally[],
  told: readonly Tally[],
  emoji: string,
  mine: boolean | undefined,
): readonly Tally[] {
  return told.map((tally) => {
    if (tally.emoji === emoji && mine !== undefined) return { ...tally, mine };
    return { ...tally, mine: before.some((each) => each.emoji === tally.emoji && each.mine) };
  });
}

export function isMine(reactions: readonly Tally[], emoji: string): boolean {
  return reactions.some((tally) => tally.emoji === emoji && tally.mine);
}
