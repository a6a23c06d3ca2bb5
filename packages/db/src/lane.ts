import { AppError } from "@holdfast/core";

export interface Lane<Item, Answer> {
  submit(item: Item): Promise<Answer>;
}

export interface LaneOptions<Item, Answer> {
  /** Does the work of all items at once and answers in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /** Whether an error of a batch may be the fault of one member, and nothing of the batch was done. */
  readonly blamesOneItem: (error: unknown) => boolean;
  readonly batchSize?: number;
  /** What items of a batch may weigh together; one that weighs more goes alone. Without `weigh` they weigh nothing. */
  readonly batchWeight?: number;
  readonly weigh?: (item: Item) => number;
  readonly queueLimit?: number;
}

interface Entry<Item, Answer> {
  readonly item: Item;
  readonly weight: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What arrives while one batch is in flight goes together in the next: nobody waits for a timer, and a busy lane pays for one
 * round trip and one commit instead of many. A batch that fails because of a member is repeated one by one, so that only that
 * member fails.
 */
export function createLane<Item, Answer>(options: LaneOptions<Item, Answer>): Lane<Item, Answer> {
  const { run, blamesOneItem, batchSize = 64, batchWeight = 0, weigh = () => 0, queueLimit = 4_096 } = options;
  const waiting: Entry<Item, Answer>[] = [];
  let moving = false;

  const runBatch = async (batch: readonly Entry<Item, Answer>[]): Promise<void> => {
    try {
      const answers = await run(batch.map((entry) => entry.item));
      batch.forEach((entry, index) => {
        const answer = answers[index];
        if (answer === undefined) entry.reject(new AppError("internal", `a batch of ${batch.length} got ${answers.length} answers`));
        else entry.resolve(answer);
      });
    } catch (error) {
      if (batch.length === 1 || !blamesOneItem(error)) for (const entry of batch) entry.reject(error);
      else for (const entry of batch) await runBatch([entry]);
    }
  };

  const nextBatchSize = (): number => {
    let weight = 0;
    const tooMany = waiting.findIndex((entry, index) => index === batchSize || ((weight += entry.weight) > batchWeight && index > 0));
    return tooMany < 0 ? waiting.length : tooMany;
  };

  const move = async (): Promise<void> => {
    // What the same turn of the event loop submits after this item joins its batch.
    await Promise.resolve();
    while (waiting.length > 0) await runBatch(waiting.splice(0, nextBatchSize()));
    moving = false;
  };

  return {
    submit: async (item) => {
      if (waiting.length >= queueLimit) throw new AppError("overloaded", `${waiting.length} items wait in the lane already`);
      return await new Promise<Answer>((resolve, reject) => {
        waiting.push({ item, weight: weigh(item), resolve, reject });
        if (moving) return;
        moving = true;
        // Settles only through the entries.
        move().catch(reject);
      });
    },
  };
}
