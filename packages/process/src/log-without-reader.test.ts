import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

const script = `
  import { createLogger } from ${JSON.stringify(new URL("./log.ts", import.meta.url).href)};
  const logger = createLogger("info");
  process.stdin.once("data", () => {
    for (let line = 0; line < 3; line += 1) logger.info("nobody reads this");
    process.exit(7);
  });
  process.stderr.write("waiting");
`;

test("a process whose log nobody reads any more can still end", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "pipe", signal: AbortSignal.timeout(10_000) });
  await once(child.stderr, "data");
  child.stdout.destroy();
  await once(child.stdout, "close");
  child.stdin.write("go");
  const [code] = (await once(child, "exit")) as [number | null];
  expect(code).toBe(7);
});
