import { useEffect, useRef } from "preact/hooks";

/** A message that was chosen elsewhere: each choice is an object of its own. */
export type Goal = {
  /** Of a conversation beside the room; `undefined` of the room. */
  readonly conversation: string | undefined;
  readonly seq: number;
};

/** Leads the reader to what they chose, once, as soon as it can be asked for. */
export function useGoal(goal: Goal | undefined, online: boolean, goTo: (seq: number) => void): void {
  const reached = useRef<Goal>(undefined);

  useEffect(() => {
    if (goal === undefined || !online || reached.current === goal) return;
    reached.current = goal;
    goTo(goal.seq);
  }, [goal, online, goTo]);
}
