import { expect, test } from "vitest";
import { parseRows, parseStatus } from "./wire";

test("a status is read by the names of the JSON", () => {
  const status = parseStatus({
    scenario: "rooms",
    stage: "draining",
    phase: { number: 2, of: 3, name: "hold" },
    progress: 0.5,
    remaining_seconds: null,
    users: { wanted: 10, active: 9, connected: 8, joined: 7 },
    totals: { in_flight: 3 },
    times: { latency: { count: 1, p99_us: 1200 } },
    errors: [{ kind: "connect", outcome: "refused", count: 2, sources: { "127.0.0.2": 1, "127.0.0.3": 1 } }],
    verdict: { valid: false, reasons: ["lag"] },
    stop: "orderly",
  });
  expect(status).toMatchObject({
    scenario: "rooms",
    stage: "draining",
    phase: { number: 2, of: 3, name: "hold" },
    progress: 0.5,
    remainingSeconds: undefined,
    users: { connected: 8 },
    totals: { inFlight: 3, lost: 0 },
    latency: { count: 1, p99: 1200 },
    errors: [{ kind: "connect", sources: 2 }],
    valid: false,
    reasons: ["lag"],
    stop: "orderly",
  });
});

test.each([null, 7, [], {}, { users: 3, errors: {}, phase: 1 }])("%j is a status of nothing", (value) => {
  const status = parseStatus(value);
  expect(status.stage).toBe("starting");
  expect(status.phase).toBeUndefined();
  expect(status.users.active).toBe(0);
});

test("a row keeps what is known of the servers", () => {
  const [row] = parseRows([{ second: 3, latency: { p50_us: 9 }, servers: [{ name: "a", rss_bytes: 5 }, { name: "b", rss_bytes: null }] }]);
  expect(row).toMatchObject({ second: 3, latency: { p50: 9 }, servers: [{ rssBytes: 5 }, { rssBytes: undefined }] });
  expect(parseRows("nothing")).toEqual([]);
});
