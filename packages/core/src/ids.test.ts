import { describe, expect, it } from "vitest";
import { taskIdFrom, taskIdSchema } from "./ids.ts";

describe("taskIdFrom", () => {
  it("writes RFC 9562's version 7: 48 bits of time, version, variant, random rest", () => {
    // Time of the RFC's own example (appendix A.6): 017F22E2-79B0-7CC3-98C4-DC0C0C07398F.
    const random = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f]);
    expect(taskIdFrom({ unixMs: 1_645_557_742_000, random })).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  });

  it("sorts by time as text", () => {
    const random = new Uint8Array(10).fill(0xff);
    expect(taskIdFrom({ unixMs: 1_000, random }) < taskIdFrom({ unixMs: 1_001, random: new Uint8Array(10) })).toBe(true);
  });

  it("refuses too few random bytes, which would repeat ids", () => {
    expect(() => taskIdFrom({ unixMs: 0, random: new Uint8Array(9) })).toThrow(RangeError);
  });
});

it("accepts a task id only as a UUID", () => {
  expect(taskIdSchema.safeParse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").success).toBe(true);
  expect(taskIdSchema.safeParse("017f22e2-79b0-7cc3-98c4").success).toBe(false);
});
