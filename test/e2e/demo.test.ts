import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createScratch, runHoldfast, startHoldfast, type Scratch } from "../support/holdfast-command.ts";
import { connectSdkClient } from "../support/sdk-client.ts";

let scratch: Scratch;

beforeEach(() => {
  scratch = createScratch();
});
afterEach(() => {
  scratch.end();
  scratch.remove();
});

describe("the demo", () => {
  test("shows in its last lines a result that the second node delivered after the first was killed, and leaves nothing behind", async () => {
    const { code, stdout, stderr } = await runHoldfast(scratch, ["demo"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [, nodeA, nodeB] = /node A at (\S+) and node B at (\S+)/u.exec(stdout) ?? [];
    const [stopped, result, killed] = stdout.trimEnd().split("\n").slice(-3);
    expect(stopped).toBe("Everything that was started is stopped and removed.");
    expect(result).toMatch(
      new RegExp(String.raw`^The result \(\d+ events, \d+ options, \d+ unresolved targets\) was fetched from node B at ${nodeB}`, "u"),
    );
    expect(killed).toBe(`after node A at ${nodeA}, which had accepted the task, was killed.`);
    // Once working, then completed: the work was unfinished when node A died, and node B saw both.
    expect(stdout).toMatch(/Node A is killed\n[^]*node B says: working[^]*node B says: completed/u);
    // Of the mod's faults, one that only a real scan finds, with its place.
    expect(stdout).toMatch(/lantern\.404 {2}by lantern\.8 \(lantern\.8\.b\), mod:events\/lantern_harbour\.txt:\d+: nobody defines it/u);
    expect(stdout).toMatch(/holdfast:\/\/workspace\/current\/artifact\/[0-9a-f]{64}\/event-graph\.json/u);
    expect(scratch.processes()).toEqual([]);
    expect(scratch.leftovers()).toEqual([]);
  });

  test("scans the mod that it is given", async () => {
    const mod = path.join(scratch.folder, "a mod of mine");
    mkdirSync(path.join(mod, "events"), { recursive: true });
    writeFileSync(path.join(mod, "descriptor.mod"), 'name="Mine"\n');
    writeFileSync(
      path.join(mod, "events", "mine.txt"),
      "add_namespace = mine\ncountry_event = { id = mine.1 is_triggered_only = yes option = { name = x } }\n",
    );
    // A relative path starts where the person stands.
    const { code, stdout } = await runHoldfast(scratch, ["demo", "--mod", "a mod of mine"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Mine: 1 event with 1 option");
  });

  test("says in one sentence that a mod is not there", async () => {
    expect(await runHoldfast(scratch, ["demo", "--mod", "/missing/mod"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "holdfast demo: there is no folder /missing/mod\n",
    });
  });

  test("stays on request, for any client, until somebody ends it", async () => {
    const demo = startHoldfast(scratch, ["demo", "--keep"]);
    const [, url = ""] = await demo.says(/"url": "(\S+)"/u);
    const [, token = ""] = await demo.says(/"Authorization": "Bearer (\S+)"/u);
    await demo.says(/Ctrl\+C ends the service/u);
    const { listTools, close } = await connectSdkClient(url, token);
    expect(await listTools()).toContain("hoi4.event_inspect");
    await close();
    demo.signal("SIGINT");
    expect(await demo.end).toBe(0);
    expect(scratch.processes()).toEqual([]);
    expect(scratch.leftovers()).toEqual([]);
  });

  test.each([/Setting the stage/u, /node B at/u, /Client A has all it needs/u])(
    "leaves nothing behind when it is interrupted at %s",
    async (moment) => {
      const demo = startHoldfast(scratch, ["demo"]);
      await demo.says(moment);
      demo.signal("SIGINT");
      expect(await demo.end).toBe(130);
      expect(demo.stderr).toContain("Interrupted. Everything that was started is stopped and removed.");
      expect(scratch.processes()).toEqual([]);
      expect(scratch.leftovers()).toEqual([]);
    },
  );

  test("leaves nothing behind when it is killed without a chance to clean up", async () => {
    const demo = startHoldfast(scratch, ["demo"]);
    await demo.says(/Client A has all it needs/u);
    demo.signal("SIGKILL");
    expect(await demo.end).toBe("SIGKILL");
    await vi.waitFor(
      () => {
        expect(scratch.processes()).toEqual([]);
        expect(scratch.leftovers()).toEqual([]);
      },
      { timeout: 30_000, interval: 100 },
    );
  });
});
