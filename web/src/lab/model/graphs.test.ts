import { expect, test } from "vitest";
import { graphs, lonePoints, pointAt } from "./graphs";
import { parseRows } from "./wire";

const spread = (p99: number): object => ({ count: 3, p50_us: p99 / 4, p95_us: p99 / 2, p99_us: p99, max_us: p99 * 3 });

test("graphs of which nothing is known are left out", () => {
  const titles = graphs(parseRows([{ second: 0, users: 3 }])).map(({ title }) => title);
  expect(titles).toEqual(["Users", "Messages per second", "Errors per second", "CPU of the generator, in cores"]);
});

test("times, HTTP and servers appear as soon as there are some", () => {
  const rows = parseRows([
    { second: 0, http: 4, sent: 2, latency: spread(8_000), http_time: spread(900), servers: [{ name: "4711", rss_bytes: 1 << 20 }] },
  ]);
  const shown = graphs(rows);
  expect(shown.map(({ title }) => title)).toEqual([
    "Users",
    "Messages per second",
    "Message latency",
    "HTTP requests per second",
    "HTTP request time",
    "Errors per second",
    "CPU of the generator, in cores",
    "Server memory",
  ]);
  const latency = shown.find(({ title }) => title === "Message latency");
  expect(latency?.curves.map(({ name, points }) => [name, points[0]?.value])).toEqual([
    ["p50", 2_000],
    ["p95", 4_000],
    ["p99", 8_000],
    ["max", 24_000],
  ]);
});

test("a second without messages is a gap, not a latency of 0", () => {
  const rows = parseRows([{ second: 0, latency: spread(8_000) }, { second: 1 }]);
  const latency = graphs(rows).find(({ title }) => title === "Message latency");
  expect(latency?.curves[0]?.points.map(({ value }) => value)).toEqual([2_000, undefined]);
});

test("the point at a second is the last that is not after it", () => {
  const points = [{ second: 2, value: 1 }, { second: 4, value: 2 }];
  expect([1, 3, 4, 9].map((second) => pointAt(points, second)?.value)).toEqual([1, 1, 2, 2]);
  expect(pointAt([], 1)).toBeUndefined();
});

test("a point with nothing measured beside it is found, as no line shows it", () => {
  const values = [4, undefined, 5, 6, undefined, undefined, 7];
  const points = values.map((value, second) => ({ second, value }));
  expect(lonePoints(points)).toEqual([{ second: 0, value: 4 }, { second: 6, value: 7 }]);
  expect(lonePoints([])).toEqual([]);
});
