import { Socket } from "node:net";
import { encodeFrame, createFrameReader } from "../sandbox/framing.ts";
import { parentFrameSchema, type ChildFrame, type ParentFrame } from "../sandbox/frames.ts";

/** The child's end of the only way in and out: a socket that its parent opened for it. */
export interface Channel {
  /** Resolves when more may be sent without filling memory. */
  send(frame: ChildFrame): Promise<void>;
  /** For text that was encoded, and measured, before. */
  sendText(json: string): Promise<void>;
  sendBytes(bytes: Uint8Array): Promise<void>;
}

const CHANNEL_FD = 3;
/** Arguments arrive in one message with what earlier attempts have left; all of it was limited before it was stored. */
const PARENT_FRAME_BYTES = 256 * 1024 * 1024;

/** Starts to read at once. The process ends with its parent: a closed channel means that nobody is left to work for. */
export function openChannel(onFrame: (frame: ParentFrame) => void): Channel {
  const socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  const reader = createFrameReader((kind) => (kind === "json" ? PARENT_FRAME_BYTES : 0));
  const leave = () => process.exit(0);
  socket.on("end", leave).on("close", leave).on("error", leave);
  socket.on("data", (chunk) => {
    for (const { payload } of reader.read(chunk)) onFrame(parentFrameSchema.parse(JSON.parse(payload.toString("utf8"))));
  });

  function write(frame: Buffer): Promise<void> {
    if (socket.write(frame)) return Promise.resolve();
    return new Promise((resolve) => socket.once("drain", resolve));
  }

  return {
    send: (frame) => write(encodeFrame("json", Buffer.from(JSON.stringify(frame)))),
    sendText: (json) => write(encodeFrame("json", Buffer.from(json))),
    sendBytes: (bytes) => write(encodeFrame("bytes", bytes)),
  };
}
