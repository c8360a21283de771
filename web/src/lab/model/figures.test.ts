import { expect, test } from "vitest";
import { bytes, clock, count, share, shortBytes, shortCount, shortTime, time } from "./figures";

test.each([
  [count(1_234_567), "1,234,567"],
  [shortCount(0), "0"],
  [shortCount(1_500), "1.5k"],
  [shortCount(20_000), "20k"],
  [shortCount(3e6), "3M"],
  [time(850), "850 µs"],
  [time(1_234), "1.23 ms"],
  [time(250_000), "250 ms"],
  [time(61e6), "61.0 s"],
  [shortTime(2_500_000), "2.5 s"],
  [shortTime(5_000), "5 ms"],
  [clock(125.9), "02:05"],
  [clock(3_725), "1:02:05"],
  [share(0.004), "0.4 %"],
  [share(0.613), "61 %"],
  [bytes(1_536), "1.5 KiB"],
  [shortBytes(0), "0 B"],
  [shortBytes(64 * 2 ** 20), "64 MiB"],
  [bytes(20 * 2 ** 30), "20.0 GiB"],
])("%s", (shown, expected) => {
  expect(shown).toBe(expected);
});
