import type { JSX } from "preact";
import { clock } from "../model/figures";
import { lonePoints, pointAt, type Curve, type Graph } from "../model/graphs";
import { clockTicks } from "../model/scale";
import { useWidth } from "./use-width";

const HEIGHT = 180;
const MARGIN = { top: 8, right: 18, bottom: 22, left: 54 };
const PLOT_HEIGHT = HEIGHT - MARGIN.top - MARGIN.bottom;
/** What a time below the axis needs. */
const CLOCK_TICK_WIDTH = 70;
const LONE_POINT_RADIUS = 2.5;

export type GraphFigureProps = {
  readonly graph: Graph;
  readonly from: number;
  readonly to: number;
  /** The second that is pointed at, in any graph. */
  readonly cursor: number | undefined;
  readonly onCursor: (second: number | undefined) => void;
};

/** One graph, with the values at the second that is pointed at, or the newest. */
export function GraphFigure({ graph, from, to, cursor, onCursor }: GraphFigureProps): JSX.Element {
  const [box, width] = useWidth<HTMLDivElement>();
  const plotWidth = Math.max(1, width - MARGIN.left - MARGIN.right);
  const x = (second: number): number => MARGIN.left + (to > from ? (second - from) / (to - from) : 1) * plotWidth;
  const y = (value: number): number => MARGIN.top + (1 - graph.scale.at(value)) * PLOT_HEIGHT;
  const second = cursor ?? to;

  function point(event: PointerEvent): void {
    if (!(event.currentTarget instanceof SVGElement)) return;
    const across = (event.clientX - event.currentTarget.getBoundingClientRect().left - MARGIN.left) / plotWidth;
    onCursor(Math.round(from + Math.min(1, Math.max(0, across)) * (to - from)));
  }

  function step(event: KeyboardEvent): void {
    const stride = Math.max(1, Math.round((to - from) / 60));
    const moved: Partial<Record<string, number>> = { ArrowLeft: second - stride, ArrowRight: second + stride, Home: from, End: to };
    const next = moved[event.key];
    if (event.key === "Escape") onCursor(undefined);
    if (next === undefined) return;
    event.preventDefault();
    onCursor(Math.min(to, Math.max(from, next)));
  }

  const told = graph.curves.map(({ name, points, color }) => {
    const value = pointAt(points, second)?.value;
    return { name, color, value: value === undefined ? "–" : graph.told(value) };
  });
  return (
    <figure class="graph">
      <figcaption>
        <h3>{graph.title}</h3>
        <ul class="legend">
          {told.map(({ name, value, color }) => (
            <li key={name} class={`color-${color}`}>
              <span class="swatch" aria-hidden="true" />
              {name} <strong>{value}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot" ref={box}>
        <svg
          width={width}
          height={HEIGHT}
          role="slider"
          tabIndex={0}
          aria-label={`${graph.title} over time`}
          aria-valuemin={from}
          aria-valuemax={to}
          aria-valuenow={second}
          aria-valuetext={`${clock(second)}: ${told.map(({ name, value }) => `${name} ${value}`).join(", ")}`}
          onPointerMove={point}
          onPointerLeave={() => { onCursor(undefined); }}
          onKeyDown={step}
          onBlur={() => { onCursor(undefined); }}
        >
          {graph.scale.ticks.map((tick) => (
            <g key={tick} class="tick">
              <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y(tick)} y2={y(tick)} />
              <text x={MARGIN.left - 6} y={y(tick) + 4} text-anchor="end">{graph.tick(tick)}</text>
            </g>
          ))}
          {clockTicks(from, to, Math.floor(plotWidth / CLOCK_TICK_WIDTH)).map((tick) => (
            <text key={tick} class="time" x={x(tick)} y={HEIGHT - 6} text-anchor="middle">{clock(tick)}</text>
          ))}
          {graph.curves.map((curve) => (
            <path key={curve.name} class={`curve color-${curve.color}`} d={path(curve, x, y)} />
          ))}
          {graph.curves.flatMap((curve) =>
            lonePoints(curve.points).map(({ second, value }) => (
              <circle key={`${curve.name} ${second}`} class={`point color-${curve.color}`} cx={x(second)} cy={y(value)} r={LONE_POINT_RADIUS} />
            )),
          )}
          {cursor !== undefined && (
            <line class="cursor" x1={x(cursor)} x2={x(cursor)} y1={MARGIN.top} y2={MARGIN.top + PLOT_HEIGHT} />
          )}
        </svg>
      </div>
    </figure>
  );
}

/** A line through the points, broken where nothing was measured. */
function path(curve: Curve, x: (second: number) => number, y: (value: number) => number): string {
  let drawn = "";
  let down = false;
  for (const { second, value } of curve.points) {
    if (value === undefined) {
      down = false;
      continue;
    }
    const at = `${x(second).toFixed(1)} ${y(value).toFixed(1)}`;
    drawn += down ? `L${at}` : `M${at}`;
    down = true;
  }
  return drawn;
}
