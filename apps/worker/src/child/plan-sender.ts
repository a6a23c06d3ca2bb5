import type { Operation, TransactionOutcome, WritePlan } from "@holdfast/core";
import { PLAN_NAMES_BYTES } from "../sandbox/frames.ts";
import { faultOfPlan } from "../sandbox/plan-paths.ts";
import { encodeValue } from "./encode-value.ts";
import type { Exchange } from "./exchange.ts";
import { inPieces } from "./pieces.ts";

/** Hands the one plan of a run to the parent, which carries it out: this process cannot write. */
export function createPlanSender(options: {
  readonly exchange: Exchange;
  readonly run: number;
  readonly operation: Operation;
}): (plan: WritePlan) => Promise<TransactionOutcome> {
  const { exchange, run, operation } = options;
  let hasPlan = false;

  return async (plan) => {
    if (operation.effect !== "write") throw new Error(`${operation.name} is declared to read only: it has no transaction`);
    if (hasPlan) throw new Error("an operation carries out one plan only");
    const { result } = plan;
    const files = plan.files.map(({ path, expectedSha256, bytes }) => ({ path, expectedSha256, size: bytes?.length ?? null }));
    const fault = faultOfPlan(files);
    if (fault !== null) throw new RangeError(fault);
    encodeValue(files, { what: "the list of the plan's files", maxBytes: PLAN_NAMES_BYTES });
    const resultBytes = Buffer.byteLength(JSON.stringify(result));
    if (resultBytes > operation.limits.resultBytes)
      throw new RangeError(`the plan's result of ${resultBytes} bytes exceeds the limit of ${operation.limits.resultBytes}`);
    hasPlan = true;
    return await exchange.turn(async (line) => {
      await line.ask({ kind: "transaction", run, result, files });
      const answer = await line.askWithBytes(inPieces(plan.files.flatMap(({ bytes }) => (bytes === null ? [] : [bytes]))));
      if (answer.kind !== "transaction.ended") throw new Error(`a transaction was answered with "${answer.kind}"`);
      const { outcome } = answer;
      switch (outcome.kind) {
        case "committed":
          return { kind: "committed", result };
        case "conflict":
          return { kind: "conflict", paths: outcome.paths };
        case "rejected":
          throw new Error(`the plan was not carried out, and nothing was changed: ${outcome.message}`);
      }
    });
  };
}
