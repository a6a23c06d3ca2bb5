import { cpSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createScratch, pidOf, runHoldfast, startHoldfast, type HoldfastCommand, type Scratch } from "../support/holdfast-command.ts";
import { modernCaller, taskIdOf, toolCall, type CallModern } from "../support/mcp-request.ts";
import { connectSdkClient } from "../support/sdk-client.ts";

const exampleMod = path.join(import.meta.dirname, "../../examples/lantern-harbour");
const tool = "hoi4.event_inspect";

let scratch: Scratch;
let ports: { port: string; issuerPort: string };

async function prepare(): Promise<void> {
  scratch = createScratch();
  const [port = "", issuerPort = ""] = await freePorts(2);
  ports = { port, issuerPort };
}

function clear(): void {
  scratch.end();
  scratch.remove();
}

describe("a service on one machine", { timeout: 180_000 }, () => {
  beforeEach(prepare);
  afterEach(clear);

  test("takes up folders while it runs, survives the death of each of its processes, and remembers everything at the next start", async () => {
    const mod = path.join(scratch.folder, "my mod");
    cpSync(exampleMod, mod, { recursive: true });
    const first = await up();

    expect(await holdfast("workspace", "add", "current", "--path", "my mod")).toMatchObject({ code: 0, stdout: "current\n" });
    expect((await holdfast("workspace", "list")).stdout).toBe(`current\t${mod}\n`);
    const token = (await holdfast("token")).stdout.trim();

    // An ordinary client gets the ordinary result.
    const client = await connectSdkClient(first.url, token);
    expect(await client.callTool(tool, {})).toMatchObject({ structuredContent: { code: "EVENT_SCAN_COMPLETED" } });
    await client.close();

    // A client of tasks gets a handle, and whatever dies meanwhile, the result.
    const taskId = taskIdOf(await first.call(toolCall(tool, {}, { token, tasks: true })));
    for (const role of ["worker", "server"]) process.kill(pidOf(scratch, `main.ts ${role}`), "SIGKILL");
    const counts = await countsOf(first.call, { taskId, token });
    expect(counts["events"]).toBeGreaterThan(0);
    // Not before the other server serves, which the result has proven, and the other worker, which the log says.
    expect(first.command.stderr).toMatch(/the worker ended \(signal SIGKILL\).*starting another one/u);
    expect(first.command.stderr).toMatch(/the server ended \(signal SIGKILL\).*starting another one/u);
    await stop(first.command);

    const second = await up();
    const freshToken = (await holdfast("token")).stdout.trim();
    expect(await countsOf(second.call, { taskId, token: freshToken })).toEqual(counts);
    const again = taskIdOf(await second.call(toolCall(tool, {}, { token: freshToken, tasks: true })));
    expect(await countsOf(second.call, { taskId: again, token: freshToken })).toEqual(counts);
    await stop(second.command);
  });

  test("starts its database again when that dies, and keeps what was in it", async () => {
    const service = await up();
    await holdfast("workspace", "add", "current", "--path", exampleMod);
    const token = (await holdfast("token")).stdout.trim();
    const taskId = taskIdOf(await service.call(toolCall(tool, {}, { token, tasks: true })));
    const counts = await countsOf(service.call, { taskId, token });
    process.kill(postmasterOf(scratch), "SIGKILL");
    await vi.waitFor(() => expect(service.command.stderr).toContain("starting it again"), { timeout: 30_000 });
    expect(await countsOf(service.call, { taskId, token })).toEqual(counts);
    await stop(service.command);
  });
});

describe("a service that runs", { timeout: 60_000 }, () => {
  let service: Up;
  beforeAll(async () => {
    await prepare();
    service = await up();
    await holdfast("workspace", "add", "current", "--path", exampleMod);
  });
  afterAll(async () => {
    try {
      await stop(service.command);
    } finally {
      clear();
    }
  });

  test("lets others into a workspace, by name or by group, and out again", async () => {
    const mara = (await holdfast("token", "--subject", "mara")).stdout.trim();
    const guild = (await holdfast("token", "--subject", "odo", "--group", "guild", "--algorithm", "RS256")).stdout.trim();
    const outcome = async (token: string): Promise<unknown> => {
      const { result, error } = await service.call(toolCall(tool, {}, { token }));
      return error?.message ?? result?.["structuredContent"];
    };
    const [denied, granted] = [
      "No such workspace, or no grant for it.",
      expect.objectContaining({ code: "EVENT_SCAN_COMPLETED" }) as unknown,
    ];
    expect([await outcome(mara), await outcome(guild)]).toEqual([denied, denied]);
    await holdfast("grant", "add", "current", "--subject", "mara");
    await holdfast("grant", "add", "current", "--group", "guild", "--expires", "2100-01-01");
    expect([await outcome(mara), await outcome(guild)]).toEqual([granted, granted]);
    expect((await holdfast("grant", "list", "current")).stdout).toMatch(/subject mara\tread,run\t/u);
    expect(await holdfast("grant", "remove", "current", "--subject", "mara")).toMatchObject({ code: 0 });
    expect([await outcome(mara), await outcome(guild)]).toEqual([denied, granted]);
  });

  test("says in one line what is wrong with a folder, a name or a port", async () => {
    mkdirSync(path.join(scratch.folder, "one, two"));
    const other = String(Number(ports.issuerPort) + 1);
    const refusals = [
      [["workspace", "add", "gone", "--path", "gone"], `there is no folder ${path.join(scratch.folder, "gone")}`],
      [
        ["workspace", "add", "file", "--path", path.join(exampleMod, "descriptor.mod")],
        /descriptor\.mod is a file, and a folder is needed$/u,
      ],
      [["workspace", "add", "comma", "--path", "one, two"], /has a comma, which HOLDFAST_ROOTS cannot hold/u],
      [
        ["workspace", "add", "current", "--path", scratch.folder],
        /the workspace current exists already, at .*lantern-harbour: choose another name/u,
      ],
      [["grant", "add", "nowhere", "--subject", "mara"], "there is no workspace nowhere: holdfast workspace list"],
      [["grant", "remove", "current", "--subject", "nobody"], "nobody has no grant in current"],
      [["up", "--data", "other", "--port", ports.port, "--issuer-port", other], /the port is in use/u],
      [["up", "--data", "data", "--port", ports.port], /data\/postgres\/pgdata is in use by process \d+/u],
    ] as const;
    const answers = await Promise.all(refusals.map(async ([args, reason]) => ({ args, reason, ...(await holdfast(...args)) })));
    for (const { args, reason, code, stderr } of answers) {
      expect({ args, code, lines: stderr.trimEnd().split("\n").length }).toEqual({ args, code: 2, lines: 1 });
      expect(stderr.trimEnd().replace(/^holdfast \w+: /u, "")).toMatch(reason);
    }
  });
});

const resultSchema = z.object({
  result: z.object({ structuredContent: z.object({ data: z.object({ counts: z.record(z.string(), z.number()) }) }) }),
});

interface Up {
  readonly command: HoldfastCommand;
  readonly url: string;
  readonly call: CallModern;
}

async function up(): Promise<Up> {
  const command = startHoldfast(scratch, ["up", "--port", ports.port, "--issuer-port", ports.issuerPort]);
  const [, url = ""] = await command.says(/Holdfast serves at (\S+)/u);
  return { command, url, call: modernCaller(url) };
}

async function stop(command: HoldfastCommand): Promise<void> {
  command.signal("SIGTERM");
  expect(await command.end).toBe(0);
  expect(scratch.processes()).toEqual([]);
}

async function holdfast(...args: readonly string[]): ReturnType<typeof runHoldfast> {
  return await runHoldfast(scratch, args);
}

/** The counts of a scan once its task is completed, whatever fails on the way there: processes die and come back here. */
async function countsOf(call: CallModern, { taskId, token }: { taskId: string; token: string }): Promise<Record<string, number>> {
  return await vi.waitFor(
    async () => {
      const { result } = await call({ method: "tasks/get", params: { taskId }, token, tasks: true });
      expect(result).toMatchObject({ status: "completed", result: { structuredContent: { code: "EVENT_SCAN_COMPLETED" } } });
      return resultSchema.parse(result).result.structuredContent.data.counts;
    },
    { timeout: 60_000, interval: 200 },
  );
}

function postmasterOf({ processes }: Scratch): number {
  // Its children have titles of their own.
  const found = processes().find((line) => /^\d+ \S*\/bin\/postgres -D /u.test(line));
  if (found === undefined) throw new Error(`no Postgres among:\n${processes().join("\n")}`);
  return Number(found.split(" ")[0]);
}

/** Free a moment ago, and different from each other: all are held until the last is found. */
async function freePorts(count: number): Promise<string[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve);
      });
      return server;
    }),
  );
  const found = servers.map((server) => String((server.address() as { port: number }).port));
  await Promise.all(servers.map(async (server) => await new Promise((resolve) => server.close(resolve))));
  return found;
}
