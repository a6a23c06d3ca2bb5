import {
  canonicalJson,
  INPUT_METHODS,
  inputKeySchema,
  type InputMethod,
  type InputRequest,
  type InputRequests,
  type JsonObject,
  type Operation,
} from "@holdfast/core";
import { MAX_QUESTIONS, QUESTIONS_BYTES, type RunFrame } from "../sandbox/frames.ts";
import { faultOfQuestion, newKeys } from "../sandbox/questions.ts";
import type { Channel } from "./channel.ts";
import { encodeValue } from "./encode-value.ts";
import type { Exchange } from "./exchange.ts";

type Answers = Readonly<Record<string, JsonObject>>;

/**
 * The questions of one run. Those that were answered are answered at once; for others the run is over, after everything that it has
 * under way, and this process with it: its promise never settles.
 */
export function createClientQuestions(options: {
  readonly frame: Pick<RunFrame, "run" | "inputs">;
  readonly operation: Operation;
  readonly exchange: Exchange;
  readonly channel: Channel;
}): (requests: InputRequests) => Promise<Answers> {
  const { frame, operation, exchange, channel } = options;
  const inputs = new Map(frame.inputs.map((input) => [input.key, input]));

  return async (requests) => {
    checkQuestions(requests, { name: operation.name, asksOf: (key) => (inputs.has(key) ? INPUT_METHODS : operation.asks) });
    for (const [key, question] of Object.entries(requests)) {
      const known = inputs.get(key);
      if (known !== undefined && !isSameQuestion(known, question))
        throw new Error(`the question "${key}" was asked before with another content: a key stands for one question`);
    }
    const missing = newKeys(requests, frame.inputs);
    if (missing.length > 0) return await suspend(Object.fromEntries(missing.map((key) => [key, requests[key]])));
    return Object.fromEntries(Object.keys(requests).map((key) => [key, answerOf(key)]));
  };

  function answerOf(key: string): JsonObject {
    const answer = inputs.get(key)?.answer;
    if (answer == null) throw new Error(`the question "${key}" was asked before and has no answer`);
    return answer;
  }

  async function suspend(requests: Record<string, InputRequest | undefined>): Promise<never> {
    const json = encodeValue({ kind: "suspend", run: frame.run, requests }, { what: "the questions", maxBytes: QUESTIONS_BYTES });
    await exchange.close();
    await channel.sendText(json);
    return await new Promise<never>(() => undefined);
  }
}

interface Asking {
  readonly name: string;
  /** What the manifest says is what may be asked in mid-task: a question that is settled needs no mention there. */
  readonly asksOf: (key: string) => readonly InputMethod[];
}

function checkQuestions(requests: InputRequests, { name, asksOf }: Asking): void {
  const keys = Object.keys(requests);
  if (keys.length > MAX_QUESTIONS) throw new RangeError(`${keys.length} questions at once are more than ${MAX_QUESTIONS}`);
  for (const [key, question] of Object.entries(requests)) {
    if (!inputKeySchema.safeParse(key).success)
      throw new TypeError(`"${key}" is no key for a question: 1 to 128 visible ASCII characters are`);
    const fault = faultOfQuestion(question, asksOf(key));
    if (fault !== null) throw new TypeError(`the question "${key}" of ${name} ${fault}`);
  }
}

/** What was answered before there was a task is known by its method alone. */
function isSameQuestion(known: InputRequest, question: InputRequest): boolean {
  if (known.method !== question.method) return false;
  return Object.keys(known.params).length === 0 || canonicalJson(known.params) === canonicalJson(question.params);
}
