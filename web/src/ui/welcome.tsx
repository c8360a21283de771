import type { JSX } from "preact";
import markUrl from "./mark.svg";
import { NameForm } from "./name-form";

export function Welcome({ onName }: { readonly onName: (name: string) => void }): JSX.Element {
  return (
    <main class="welcome">
      <section class="welcome-card" aria-labelledby="welcome-title">
        <img class="mark" src={markUrl} alt="" width="48" height="48" />
        <h1 id="welcome-title">Join the lobby</h1>
        <p class="muted">One room, open to everybody on this server. How should the others call you?</p>
        <NameForm initialName="" action="Join" onName={onName} />
      </section>
    </main>
  );
}
