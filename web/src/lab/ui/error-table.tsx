import type { JSX } from "preact";
import { clock, count } from "../model/figures";
import type { ErrorCount } from "../model/wire";

/** Beyond so many kinds, the rest is in the report. */
const SHOWN_MAX = 50;

export function ErrorTable({ errors, total }: { readonly errors: readonly ErrorCount[]; readonly total: number }): JSX.Element {
  return (
    <section class="card" aria-labelledby="errors-title">
      <h2 id="errors-title">
        Errors <span class="muted">{count(total)}</span>
      </h2>
      {errors.length === 0 ? (
        <p class="muted">None so far.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-labelledby="errors-title">
          <table>
            <thead>
              <tr>
                <th class="number">Count</th>
                <th>Error</th>
                <th>First at</th>
                <th class="number">Sources</th>
                <th>Example</th>
              </tr>
            </thead>
            <tbody>
              {errors.slice(0, SHOWN_MAX).map((error) => (
                <tr key={`${error.kind} ${error.outcome} ${error.code}`}>
                  <td class="number">{count(error.count)}</td>
                  <td class="what">{`${error.kind} ${error.outcome}${error.code === 0 ? "" : ` ${error.code}`}`}</td>
                  <td>{clock(error.firstSecond)}</td>
                  <td class="number">{count(error.sources)}</td>
                  <td class="example">{error.example}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
