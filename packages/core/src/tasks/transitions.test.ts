import { describe, expect, it } from "vitest";
import { isTerminal } from "./status.ts";
import { STATUS_OF_PHASE, TRANSITIONS, type TaskEvent, type TaskPhase } from "./transitions.ts";

const phases = Object.keys(TRANSITIONS) as TaskPhase[];
const events = Object.keys(TRANSITIONS.queued) as TaskEvent[];

describe("the task machine", () => {
  /** Phases in the columns, in the order of `phases`; `-` for refused. */
  const DECIDED: Readonly<Record<TaskEvent, string>> = {
    //         queued    running   parked    completed failed cancelled
    claim: "   running   -         -         -         -      -        ",
    renew: "   -         running   -         -         -      -        ",
    complete: "-         completed -         -         -      -        ",
    fail: "    -         failed    -         -         -      -        ",
    stop: "    -         cancelled -         -         -      -        ",
    requeue: " -         queued    -         -         -      -        ",
    suspend: " -         parked    -         -         -      -        ",
    resume: "  -         -         queued    -         -      -        ",
    cancel: "  cancelled running   cancelled completed failed cancelled",
  };

  it.each(Object.entries(DECIDED))("answers %s in every phase as it was decided", (event, row) => {
    expect(phases).toEqual(["queued", "running", "parked", "completed", "failed", "cancelled"]);
    const decided = row
      .trim()
      .split(/ +/u)
      .map((next) => (next === "-" ? "refused" : next));
    expect(phases.map((phase) => TRANSITIONS[phase][event as TaskEvent])).toEqual(decided);
  });

  it("knows no other event", () => {
    for (const phase of phases) expect(Object.keys(TRANSITIONS[phase]).toSorted()).toEqual(Object.keys(DECIDED).toSorted());
  });

  it("never leaves a terminal status (C5.1)", () => {
    const terminal = phases.filter((phase) => isTerminal(STATUS_OF_PHASE[phase]));
    expect(terminal).toEqual(["completed", "failed", "cancelled"]);
    for (const phase of terminal) for (const event of events) expect([phase, "refused"]).toContain(TRANSITIONS[phase][event]);
  });

  it("lets an attempt write only while its task is running (C5.2)", () => {
    for (const event of ["renew", "complete", "fail", "stop", "requeue", "suspend"] as const) {
      const accepting = phases.filter((phase) => TRANSITIONS[phase][event] !== "refused");
      expect(accepting).toEqual(["running"]);
    }
  });

  it("accepts a cancellation in every phase (C8.1), and settles at once only what has not started (C8.2)", () => {
    expect(phases.map((phase) => TRANSITIONS[phase].cancel)).toEqual([
      "cancelled",
      "running",
      "cancelled",
      "completed",
      "failed",
      "cancelled",
    ]);
  });

  it("reaches every phase from a new task", () => {
    const reached = new Set<TaskPhase>(["queued"]);
    for (const phase of reached)
      for (const event of events) {
        const next = TRANSITIONS[phase][event];
        if (next !== "refused") reached.add(next);
      }
    expect([...reached].toSorted()).toEqual(phases.toSorted());
  });
});
