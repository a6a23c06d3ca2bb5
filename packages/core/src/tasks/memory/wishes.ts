import type { TaskId } from "../../ids.ts";
import type { InputAnswer } from "../input.ts";
import type { Task, TaskRef } from "../task.ts";
import { TRANSITIONS } from "../transitions.ts";
import { isBound, isLive, openQuestions, taskOf, transit, type Entry } from "./entry.ts";
import { actionByEffect, type Shelf } from "./shelf.ts";
import { finish } from "./verdict.ts";

/**
 * What clients may want of a task after it was created; whoever may submit it may want it. Each answers with the task as it is afterwards:
 * null if it ended by that and its time had passed already.
 */
export interface Wishes {
  update(ref: TaskRef, answers: readonly InputAnswer[]): Task | null;
  cancel(ref: TaskRef): Task | null;
  abandon(ref: TaskRef): Task | null;
  /** Cancels tasks that have waited for answers for the whole time that their results would have been kept, and says which. */
  endUnanswered(limit: number): readonly TaskId[];
}

export function createWishes(shelf: Shelf, now: () => number): Wishes {
  const grant = (ref: TaskRef, wish: (entry: Entry) => void): Task | null => {
    const find = () => shelf.visible(ref, ({ request }) => actionByEffect(request));
    const entry = find();
    if (entry !== null && isLive(entry)) wish(entry);
    const left = find();
    return left === null ? null : taskOf(left);
  };
  return {
    update: (ref, answers) => grant(ref, (entry) => answer(entry, answers, now())),
    cancel: (ref) => grant(ref, (entry) => cancel(entry, now())),
    abandon: (ref) => grant(ref, (entry) => abandon(entry, now())),
    endUnanswered: (limit) => {
      const unanswered = [...shelf.entries.values()]
        .filter(({ phase, lastUpdatedAt, ttlMs }) => phase === "parked" && lastUpdatedAt + ttlMs < now())
        .toSorted((a, b) => (a.request.id < b.request.id ? -1 : 1))
        .slice(0, limit);
      for (const entry of unanswered) finish(entry, "cancel", { at: now() });
      return unanswered.map(({ request }) => request.id);
    },
  };
}

function answer(entry: Entry, answers: readonly InputAnswer[], at: number): void {
  if (TRANSITIONS[entry.phase].resume === "refused") return;
  for (const { key, method, answer: given } of answers) {
    const question = entry.questions.get(key);
    if (question === undefined || question.answerText !== null || question.method !== method) continue;
    question.answerText = JSON.stringify(given);
    entry.lastUpdatedAt = at;
  }
  if (openQuestions(entry).length === 0) transit(entry, "resume");
}

/** Settles what no attempt has and no plan has to be told of; else it is a wish, which the attempt that has it, or the next one, answers. */
function cancel(entry: Entry, at: number): void {
  if (TRANSITIONS[entry.phase].cancel === "cancelled" && !isBound(entry)) finish(entry, "cancel", { at });
  else if (!entry.cancelRequested) {
    entry.cancelRequested = true;
    entry.lastUpdatedAt = at;
  }
}

function abandon(entry: Entry, at: number): void {
  entry.callers = Math.max(0, entry.callers - 1);
  if (entry.callers === 0 && !entry.hasHandle) cancel(entry, at);
}
