import type { JSX } from "preact";
import { clock, share } from "../model/figures";
import type { RunStatus } from "../model/wire";
import markUrl from "./mark.svg";
import { StopControl } from "./stop-control";

export type StatusHeadProps = { readonly status: RunStatus; readonly reachable: boolean };

/** Which run this is, how far it has come, and whether it is to be believed. */
export function StatusHead({ status, reachable }: StatusHeadProps): JSX.Element {
  return (
    <header class="head card">
      <div class="head-name">
        <img class="mark" src={markUrl} alt="" width="40" height="40" />
        <div>
          <h1>{status.scenario || "Stampede"}</h1>
          <p class="muted target">{status.target}</p>
        </div>
        <p class={status.valid ? "badge badge-good" : "badge badge-bad"}>{verdictText(status)}</p>
        <StopControl status={status} reachable={reachable} />
      </div>
      <div class="head-way">
        <p role="status">{stageText(status)}</p>
        <p class="muted">{clockText(status)}</p>
      </div>
      {status.progress !== undefined && (
        <progress max={1} value={status.progress} aria-label="Progress of the run">
          {share(status.progress)}
        </progress>
      )}
      {!reachable && status.stage !== "ended" && (
        <p class="notice notice-bad" role="alert">
          No connection to the run: its process has ended, or the connection is lost. These are the last figures received.
        </p>
      )}
      {!reachable && status.stage === "ended" && (
        <p class="notice" role="status">The run is complete; the report is in its folder.</p>
      )}
      {status.reasons.map((reason) => (
        <p key={reason} class="notice notice-bad">{reason}</p>
      ))}
    </header>
  );
}

function verdictText({ valid, stage }: RunStatus): string {
  return `${valid ? "Valid" : "Invalid"}${stage === "ended" ? "" : " so far"}`;
}

function stageText({ stage, phase, stop, endedBy }: RunStatus): string {
  switch (stage) {
    case "starting":
      return "Starting";
    case "running":
      if (stop !== "no") return "Stopping";
      return phase ? `Phase ${phase.number} of ${phase.of}: ${phase.name}` : "Running";
    case "draining":
      return "Draining: waiting for messages in flight";
    case "ended":
      return `Ended: ${endedBy}`;
  }
}

function clockText({ elapsedSeconds, remainingSeconds, progress }: RunStatus): string {
  const parts = [clock(elapsedSeconds)];
  if (remainingSeconds !== undefined && remainingSeconds > 0) parts.push(`${clock(remainingSeconds)} left`);
  if (progress !== undefined) parts.push(share(progress));
  return parts.join(" · ");
}
