import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { RunStatus } from "../model/wire";

export type StopControlProps = { readonly status: RunStatus; readonly reachable: boolean };

/** The button that ends the run, after a question. */
export function StopControl({ status, reachable }: StopControlProps): JSX.Element | null {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState("");
  if (status.stage === "ended") return null;
  const again = status.stop !== "no";

  async function stop(): Promise<void> {
    setProblem(await requestStop(again));
    dialog.current?.close();
  }

  return (
    <div class="stop">
      <button type="button" class="button" disabled={!reachable || status.stop === "at_once"} onClick={() => dialog.current?.showModal()}>
        {again ? "Stop without waiting" : "Stop the run"}
      </button>
      <p class="problem" role="alert">{problem}</p>
      <dialog ref={dialog} class="dialog" aria-labelledby="stop-title">
        <h2 id="stop-title">{again ? "Stop without waiting?" : "Stop the run?"}</h2>
        <p>
          {again
            ? "The run does not wait for messages in flight; they are counted as such."
            : "No more users arrive. The run waits for messages in flight and then writes the report."}
        </p>
        <div class="form-actions">
          <button type="button" class="button button-quiet" onClick={() => dialog.current?.close()}>
            Keep running
          </button>
          <button type="button" class="button button-danger" onClick={() => void stop()}>
            Stop
          </button>
        </div>
      </dialog>
    </div>
  );
}

/** What stood in the way; empty when the wish was taken. */
async function requestStop(atOnce: boolean): Promise<string> {
  // The token is in the fragment of the address, where others on the network can reach the page.
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    const response = await fetch(`/api/stop?at_once=${atOnce}`, {
      method: "POST",
      headers: token === null ? {} : { Authorization: `Bearer ${token}` },
    });
    return response.ok ? "" : await response.text();
  } catch {
    return "No connection to the run.";
  }
}
