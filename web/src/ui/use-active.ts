import type { TargetedFocusEvent, TargetedMouseEvent, TargetedPointerEvent } from "preact";
import { useMemo, useState } from "preact/hooks";

type List = HTMLOListElement;

const NONE = { seq: undefined, focused: false } as const;

export type Active = {
  /** The place of the message whose actions are shown: under the mouse, tapped or focused. */
  readonly seq: number | undefined;
  /** Whether it has the focus: only then the tabulator key leads to its actions, wherever the mouse lies. */
  readonly focused: boolean;
  readonly handlers: {
    readonly onPointerOver: (event: TargetedPointerEvent<List>) => void;
    readonly onPointerLeave: (event: TargetedPointerEvent<List>) => void;
    readonly onFocusIn: (event: TargetedFocusEvent<List>) => void;
    readonly onFocusOut: (event: TargetedFocusEvent<List>) => void;
    readonly onClick: (event: TargetedMouseEvent<List>) => void;
  };
};

/** Only one message shows its actions: hundreds of them would be hundreds of buttons that nobody sees. */
export function useActive(): Active {
  const [{ seq, focused }, set] = useState<Pick<Active, "seq" | "focused">>(NONE);

  const handlers = useMemo(
    (): Active["handlers"] => ({
      onPointerOver: ({ pointerType, target, currentTarget }) => {
        if (pointerType !== "mouse" || isUsedByKey(currentTarget)) return;
        const over = seqOf(target);
        // The same one keeps what else is known of it: nothing is drawn anew then.
        if (over !== undefined) set((known) => (known.seq === over ? known : { seq: over, focused: false }));
      },
      onPointerLeave: ({ pointerType, currentTarget }) => {
        if (pointerType === "mouse" && !isUsedByKey(currentTarget)) set(NONE);
      },
      onFocusIn: ({ target }) => { set({ seq: seqOf(target), focused: true }); },
      onFocusOut: ({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) set(NONE);
      },
      onClick: ({ target }) => {
        if (!matchMedia("(hover: none)").matches) return;
        const isControl = target instanceof Element && target.closest("a, button") !== null;
        // A control was meant, or a selection is being made.
        if (isControl || getSelection()?.type === "Range") return;
        const tapped = seqOf(target);
        set((known) => (known.seq === tapped ? NONE : { seq: tapped, focused: false }));
      },
    }),
    [],
  );
  return { seq, focused, handlers };
}

/** The place of the message that an element is part of. */
export function seqOf(target: EventTarget | null): number | undefined {
  const item = target instanceof Element ? target.closest<HTMLElement>("[data-seq]") : null;
  return item === null ? undefined : Number(item.dataset["seq"]);
}

/** Whoever works there by keyboard is not to be disturbed by where the mouse lies. */
function isUsedByKey(list: List): boolean {
  const { activeElement } = document;
  return activeElement !== null && list.contains(activeElement) && activeElement.matches(":focus-visible");
}
