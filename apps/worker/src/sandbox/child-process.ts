import { spawn } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import path from "node:path";
import { createFrameReader, encodeFrame, type FrameKind } from "./framing.ts";
import { childFrameSchema, MESSAGE_BYTES, type ChildFrame, type ParentFrame } from "./frames.ts";
import { tailOutput } from "./output-tail.ts";
import { offerToOutOfMemoryKiller, residentBytes } from "./resident-memory.ts";

/** A child broke the rules of the conversation. The message is for operators. */
export class ChildViolation extends Error {
  override readonly name = "ChildViolation";
}

/** Who listens to a child at the moment. Both methods may throw `ChildViolation`. */
export interface ChildListener {
  readonly maxBytes: (kind: FrameKind) => number;
  onFrame(frame: ChildFrame, bytes: number): void;
  onBytes(bytes: Buffer): void;
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it was killed, or null when it ended by itself. */
  readonly killedFor: string | null;
}

/** One isolated process, alone in its process group, at the other end of a channel of frames. */
export interface ChildProcess {
  readonly pid: number;
  /** JavaScript heap that it was started with, in MiB. */
  readonly memoryMiB: number;
  /** Rejects when it ends, or the deadline passes, before its packs are loaded. */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone and its output is read. Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** False from the moment it is killed or ends. */
  readonly isUsable: boolean;
  send(frame: ParentFrame): void;
  /** A child that says anything while nobody listens is killed. Clears the captured output. */
  listen(listener: ChildListener | null): void;
  /** Kills the whole process group at once. The first reason is kept. */
  kill(reason: string): void;
  /** The end of what it wrote for people since somebody began to listen. */
  output(): string;
  residentBytes(): number | null;
}

export interface ChildOptions {
  readonly packs: readonly string[];
  readonly readable: readonly string[];
  readonly memoryMiB: number;
  readonly readyWithinMs: number;
}

/** Bytes that one run may write to standard output and error together. */
const OUTPUT_BYTES = 1024 * 1024;
/** How long the output of a process that is gone is awaited: somebody else might hold its pipes open. */
const DRAIN_OUTPUT_MS = 250;
const CLOSED_GRACE_MS = 250;
const MAIN = path.join(path.dirname(import.meta.dirname), "child", "main.ts");
/** Nothing of the worker's environment, which holds its credentials. */
const ENVIRONMENT = { TZ: "UTC", LANG: "C.UTF-8" };

/** Throws only when no process could be created at all. */
export function startChild(options: ChildOptions): ChildProcess {
  const { packs, memoryMiB } = options;
  const node = spawn(
    process.execPath,
    [
      `--max-old-space-size=${memoryMiB}`,
      "--permission",
      ...options.readable.map((allowed) => `--allow-fs-read=${allowed}`),
      MAIN,
      ...packs.map((pack) => `--pack=${pack}`),
    ],
    { detached: true, stdio: ["ignore", "pipe", "pipe", "pipe"], env: ENVIRONMENT, cwd: "/" },
  );
  // What goes wrong later is told by its end.
  node.on("error", () => undefined);
  const { pid, stdout, stderr } = node;
  const channel = node.stdio[3];
  if (pid === undefined || stdout === null || stderr === null || !isDuplex(channel))
    throw new Error(`cannot start a child process from ${process.execPath}`);
  const leader = pid;
  offerToOutOfMemoryKiller(pid);

  const readiness = Promise.withResolvers<void>();
  const end = Promise.withResolvers<ChildEnd>();
  let killedFor: string | null = null;
  let hasEnded = false;
  let listener: ChildListener | null = {
    maxBytes: () => MESSAGE_BYTES,
    onFrame(frame) {
      if (frame.kind !== "ready") throw new ChildViolation(`the first message was "${frame.kind}"`);
      listener = null;
      readiness.resolve();
    },
    onBytes() {
      throw new ChildViolation("the first message was no message");
    },
  };

  function kill(reason: string): void {
    if (hasEnded) return;
    killedFor ??= reason;
    killGroup(leader);
  }

  const tails = [tailOutput(stdout, limitOutput), tailOutput(stderr, limitOutput)];
  function limitOutput(): void {
    const bytes = tails.reduce((sum, tail) => sum + tail.bytes, 0);
    if (bytes > OUTPUT_BYTES) kill(`wrote more than ${OUTPUT_BYTES} bytes to its standard output and error`);
  }
  const output = () =>
    tails
      .map((tail) => tail.text())
      .filter((text) => text !== "")
      .join("\n");

  const reader = createFrameReader((kind) => listener?.maxBytes(kind) ?? 0);
  channel.on("data", (chunk: Buffer) => {
    if (killedFor !== null) return;
    try {
      for (const { kind, payload } of reader.read(chunk)) deliver(kind, payload);
    } catch (error) {
      kill(`broke its channel: ${error instanceof Error ? error.message : "unknown"}`);
    }
  });
  function deliver(kind: FrameKind, payload: Buffer): void {
    if (listener === null) throw new ChildViolation("it spoke out of turn");
    if (kind === "bytes") listener.onBytes(payload);
    else listener.onFrame(parseFrame(payload), payload.length);
  }
  // Its end usually follows, and says more. A process that stays without a channel is of no use.
  const expectEnd = () => void setTimeout(() => kill("closed its channel"), CLOSED_GRACE_MS).unref();
  channel.on("end", expectEnd).on("error", expectEnd);

  const deadline = setTimeout(() => kill(`was not ready within ${options.readyWithinMs} ms`), options.readyWithinMs);
  readiness.promise.then(
    () => clearTimeout(deadline),
    () => clearTimeout(deadline),
  );
  node.on("exit", (code, signal) => {
    hasEnded = true;
    // Grandchildren are forbidden, but whatever the group still holds ends with its leader.
    killGroup(pid);
    afterOutput([stdout, stderr], () => {
      const ended: ChildEnd = { code, signal, killedFor };
      readiness.reject(new Error(`child process ${describeEnd(ended)} before it was ready: ${output()}`));
      end.resolve(ended);
    });
  });

  return {
    pid,
    memoryMiB,
    ready: readiness.promise,
    ended: end.promise,
    get isUsable() {
      return !hasEnded && killedFor === null;
    },
    send(frame) {
      if (!channel.destroyed) channel.write(encodeFrame("json", Buffer.from(JSON.stringify(frame))));
    },
    listen(next) {
      if (next !== null) for (const tail of tails) tail.clear();
      listener = next;
    },
    kill,
    output,
    residentBytes: () => residentBytes(pid),
  };
}

/** "exited with code 1", "was killed by SIGKILL: wrote more than ..." */
export function describeEnd(end: ChildEnd): string {
  const how = end.signal === null ? `exited with code ${end.code ?? "unknown"}` : `was ended by ${end.signal}`;
  return end.killedFor === null ? how : `${how}: ${end.killedFor}`;
}

function parseFrame(payload: Buffer): ChildFrame {
  const parsed = childFrameSchema.safeParse(JSON.parse(payload.toString("utf8")));
  if (!parsed.success) throw new ChildViolation(`a message has the wrong shape: ${parsed.error.message.slice(0, 300)}`);
  return parsed.data;
}

function killGroup(pid: number): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // The group is gone already.
  }
}

function afterOutput(streams: readonly Readable[], done: () => void): void {
  let open = streams.filter((stream) => !stream.closed).length;
  const finish = () => {
    clearTimeout(timer);
    for (const stream of streams) stream.destroy();
    done();
  };
  const timer = setTimeout(finish, DRAIN_OUTPUT_MS);
  if (open === 0) return finish();
  for (const stream of streams) {
    stream.once("close", () => {
      open -= 1;
      if (open === 0) finish();
    });
  }
}

function isDuplex(stream: Readable | object | null | undefined): stream is Duplex {
  return stream !== null && stream !== undefined && "write" in stream && "on" in stream;
}
