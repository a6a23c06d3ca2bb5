import type { Action, AttemptLedger, AttemptRef, CreateTask, Task, TaskId, TaskManager, WriteJournal } from "@holdfast/core";
import { answerOf, isRejection, areAlike, assertAlike, withoutTasks } from "./comparison.ts";
import { openModel, replay, tell } from "./model.ts";
import type { Node, PostgresSide } from "./postgres-side.ts";

export interface Store extends TaskManager, AttemptLedger, WriteJournal {
  expire(limit: number): Promise<number>;
  endUnanswered(limit: number): Promise<readonly TaskId[]>;
  /** Makes these all that the grant of this number allows, nothing at all included. */
  permit(grant: number, actions: readonly Action[]): Promise<void>;
}

/** What a step does, the same to every store: its targets were chosen from what the sequence has met so far. */
export interface Move {
  readonly act: (store: Store) => Promise<unknown>;
  /** Learns from an answer that is no error what later steps may aim at. */
  readonly note?: (answer: unknown) => void;
}

/** The two stores side by side, and what a sequence has met in them so far. */
export interface Pair {
  readonly side: PostgresSide;
  readonly tasks: CreateTask[];
  /** Every attempt that was ever granted: old tokens keep trying. */
  readonly attempts: AttemptRef[];
  /** What its owner has last seen of it. */
  viewOf(id: TaskId): Task | null;
  /** Does it to the model and to the node whose turn it is; answers, and then all that the owners see, must agree. */
  take(move: Move): Promise<void>;
  /** Does both at the same time on two nodes; the model must be able to do them one after the other to the same effect. */
  race(moves: readonly [Move, Move]): Promise<void>;
  /** Lets time pass on both sides. */
  pass(ms: number): Promise<void>;
}

type Views = ReadonlyMap<TaskId, Task | null>;

export function openPair(side: PostgresSide): Pair {
  const tasks: CreateTask[] = [];
  let model = openModel();
  let before: { readonly expected: Views; readonly actual: Views } = { expected: new Map(), actual: new Map() };
  let turns = 0;
  let aged = 0;

  const nextNode = (): Node => {
    turns += 1;
    return side.nodes[turns % side.nodes.length]!;
  };

  const tick = (): void => {
    model.clock.at += 1;
    // The driver cuts times to milliseconds, so the next statement must not fall into the same one.
    const next = performance.now() + 1;
    while (performance.now() < next);
  };

  const viewsOf = async (read: Node["read"], sinceMs: number): Promise<Views> => {
    const views = tasks.map(async ({ id, principal }) => [id, later(await read({ id, principal }), sinceMs)] as const);
    return new Map(await Promise.all(views));
  };

  /** What the owners see now, and whether it changed: times are each store's own, but they must agree on what touched a task. */
  const described = (views: Views, earlier: Views): unknown =>
    tasks.map(({ id }) => {
      const [view, previous] = [views.get(id) ?? null, earlier.get(id) ?? null];
      const isTouched = view === null || previous === null || view.lastUpdatedAt.getTime() !== previous.lastUpdatedAt.getTime();
      const isMoved = view !== null && previous !== null && view.createdAt.getTime() !== previous.createdAt.getTime();
      return { view, isTouched, isMoved };
    });

  const take = async ({ act, note }: Move): Promise<void> => {
    tick();
    const expected = await answerOf(tell(model, act));
    const actual = await answerOf(act(nextNode().store));
    if (!isRejection(actual)) note?.(actual);
    assertAlike(actual, expected);
    const views = { expected: await viewsOf(model.store.find, 0), actual: await viewsOf(nextNode().read, aged) };
    assertAlike(described(views.actual, before.actual), described(views.expected, before.expected));
    before = views;
  };

  const race = async (moves: readonly [Move, Move]): Promise<void> => {
    tick();
    const answers = await Promise.all(moves.map(({ act }) => answerOf(act(nextNode().store))));
    moves.forEach(({ note }, index) => {
      if (!isRejection(answers[index])) note?.(answers[index]);
    });
    const actual = await viewsOf(nextNode().read, aged);
    const candidates = [];
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const candidate = await replay(model);
      const expected: unknown[] = [];
      for (const index of order) expected[index] = await answerOf(tell(candidate, moves[index].act));
      const views = await viewsOf(candidate.store.find, 0);
      candidates.push({
        candidate,
        views,
        expected: { answers: withoutTasks(expected), views: described(views, before.expected) },
      });
    }
    const outcome = { answers: withoutTasks(answers), views: described(actual, before.actual) };
    const match = candidates.find(({ expected }) => areAlike(outcome, expected));
    if (match === undefined) assertAlike({ raced: outcome }, { raced: candidates.map(({ expected }) => expected) });
    else {
      model = match.candidate;
      before = { expected: match.views, actual };
    }
  };

  return {
    side,
    tasks,
    attempts: [],
    viewOf: (id) => before.actual.get(id) ?? null,
    take,
    race,
    pass: async (ms) => {
      model.clock.at += ms;
      aged += ms;
      await side.age(ms);
    },
  };
}

/** Without what aging took off its times. */
function later(task: Task | null, ms: number): Task | null {
  if (task === null) return null;
  return { ...task, createdAt: new Date(task.createdAt.getTime() + ms), lastUpdatedAt: new Date(task.lastUpdatedAt.getTime() + ms) };
}
