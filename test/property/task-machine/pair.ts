import type { AttemptRef, CreateTask, Task, TaskId } from "@holdfast/core";
import { answerOf, isRejection, areAlike, assertAlike, withoutTasks } from "./comparison.ts";
import { openModel, replay, tell, type Model } from "./model.ts";
import type { Node, PostgresSide } from "./postgres-side.ts";
import type { Move } from "./store.ts";

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

/** A model that explains all that Postgres has answered so far, and what owners last saw of it. */
interface Explanation {
  readonly model: Model;
  readonly views: Views;
}

/** What a model would have answered, and what became of it. */
interface Trial extends Explanation {
  readonly outcome: unknown;
}

export function openPair(side: PostgresSide): Pair {
  const tasks: CreateTask[] = [];
  // More than one after a race whose order nobody could see yet: what only a later step shows decides between them.
  let explanations: readonly Explanation[] = [{ model: openModel(), views: new Map() }];
  let seen: Views = new Map();
  let turns = 0;
  let aged = 0;

  const nextNode = (): Node => {
    turns += 1;
    return side.nodes[turns % side.nodes.length]!;
  };

  const tick = (): void => {
    for (const { model } of explanations) model.clock.at += 1;
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

  const look = async (answer: unknown): Promise<unknown> => {
    const views = await viewsOf(nextNode().read, aged);
    const outcome = { answer, views: described(views, seen) };
    seen = views;
    return outcome;
  };

  const tryOut = async (model: Model, earlier: Views, acting: () => Promise<unknown>): Promise<Trial> => {
    const answer = await acting();
    const views = await viewsOf(model.store.find, 0);
    return { model, views, outcome: { answer, views: described(views, earlier) } };
  };

  const explain = (outcome: unknown, trials: readonly Trial[]): void => {
    explanations = trials.filter((trial) => areAlike(outcome, trial.outcome));
    if (explanations.length > 0) return;
    const [first, ...others] = trials;
    if (others.length === 0) assertAlike(outcome, first?.outcome);
    else assertAlike({ outcome }, { noneOf: trials.map((trial) => trial.outcome) });
  };

  const take = async ({ act, note }: Move): Promise<void> => {
    tick();
    const answer = await answerOf(act(nextNode().store));
    if (!isRejection(answer)) note?.(answer);
    const outcome = await look(answer);
    const trials: Trial[] = [];
    for (const { model, views } of explanations) trials.push(await tryOut(model, views, () => answerOf(tell(model, act))));
    explain(outcome, trials);
  };

  const race = async (moves: readonly [Move, Move]): Promise<void> => {
    tick();
    const answers = await Promise.all(moves.map(({ act }) => answerOf(act(nextNode().store))));
    moves.forEach(({ note }, index) => {
      if (!isRejection(answers[index])) note?.(answers[index]);
    });
    const outcome = await look(withoutTasks(answers));
    const trials: Trial[] = [];
    for (const { model, views } of explanations)
      for (const order of [[0, 1] as const, [1, 0] as const]) {
        const other = await replay(model);
        const inOrder = async (): Promise<unknown> => {
          const expected: unknown[] = [];
          for (const index of order) expected[index] = await answerOf(tell(other, moves[index].act));
          return withoutTasks(expected);
        };
        trials.push(await tryOut(other, views, inOrder));
      }
    explain(outcome, trials);
  };

  return {
    side,
    tasks,
    attempts: [],
    viewOf: (id) => seen.get(id) ?? null,
    take,
    race,
    pass: async (ms) => {
      for (const { model } of explanations) model.clock.at += ms;
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
