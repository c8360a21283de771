import type { JSX } from "preact";
import markUrl from "./mark.svg";
import { NameForm } from "./name-form";

export type WelcomeProps = {
  /** The room's name in its address; how it is called is told with the first join. */
  readonly room: string;
  readonly onName: (name: string) => void;
};

export function Welcome({ room, onName }: WelcomeProps): JSX.Element {
  return (
    <main class="welcome">
      <section class="welcome-card" aria-labelledby="welcome-title">
        <img class="mark" src={markUrl} alt="" width="48" height="48" />
        <h1 id="welcome-title">Join {room}</h1>
        <p class="muted">You join as a guest. Choose the name that others see.</p>
        <NameForm initialName="" action="Join" onName={onName} />
      </section>
    </main>
  );
}
