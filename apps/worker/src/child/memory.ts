import type { Checkpoint, JsonValue } from "@holdfast/core";
import { MAX_STEPS, stepKeySchema, STEPS_BYTES, VALUE_BYTES, type RunFrame } from "../sandbox/frames.ts";
import { encodeValue } from "./encode-value.ts";
import type { Exchange } from "./exchange.ts";

/** What a run was left by earlier attempts, and what it leaves itself. */
export interface Memory {
  readonly checkpoint: Checkpoint;
  step<Value extends JsonValue>(key: string, work: () => Promise<Value>): Promise<Value>;
}

export function createMemory(frame: Pick<RunFrame, "run" | "checkpoint" | "steps">, exchange: Exchange): Memory {
  const { run } = frame;
  let checkpoint = frame.checkpoint;
  const known = new Map(frame.steps.map(({ key, text }) => [key, text]));
  const underWay = new Map<string, Promise<JsonValue>>();
  let stepBytes = frame.steps.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);

  async function perform(key: string, work: () => Promise<JsonValue>): Promise<JsonValue> {
    const value = await work();
    const text = encodeValue(value, { what: `the value of step "${key}"`, maxBytes: Math.min(VALUE_BYTES, STEPS_BYTES - stepBytes) });
    if (known.size >= MAX_STEPS) throw new RangeError(`step "${key}" is one more than the ${MAX_STEPS} that a task may have`);
    stepBytes += Buffer.byteLength(text);
    // As it is now: the handler may go on to change the value that it has got.
    known.set(key, text);
    try {
      await exchange.turn((line) => line.ask({ kind: "step.save", run, key, value: JSON.parse(text) }));
    } catch (error) {
      known.delete(key);
      throw error;
    }
    return value;
  }

  return {
    checkpoint: {
      load(schema) {
        if (checkpoint === null) return null;
        const parsed = schema.safeParse(JSON.parse(checkpoint));
        return parsed.success ? parsed.data : null;
      },
      async save(value) {
        const text = encodeValue(value, { what: "the checkpoint", maxBytes: VALUE_BYTES });
        await exchange.turn((line) => line.ask({ kind: "checkpoint.save", run, value: JSON.parse(text) }));
        checkpoint = text;
      },
    },
    async step<Value extends JsonValue>(key: string, work: () => Promise<Value>): Promise<Value> {
      stepKeySchema.parse(key);
      const text = known.get(key);
      const value: unknown = await (underWay.get(key) ?? (text === undefined ? begin(key, work) : JSON.parse(text)));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key stands for one piece of work, whose value this is
      return value as Value;
    },
  };

  function begin(key: string, work: () => Promise<JsonValue>): Promise<JsonValue> {
    const performed = perform(key, work).finally(() => underWay.delete(key));
    underWay.set(key, performed);
    return performed;
  }
}
