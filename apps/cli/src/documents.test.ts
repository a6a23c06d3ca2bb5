import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { STATUS_OF_PHASE, TRANSITIONS } from "@holdfast/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectFolder } from "./config.ts";
import { clientConfigurations } from "./service/client-config.ts";

const documents = globSync(["*.md", "docs/**/*.md", "ops/**/*.md"], { cwd: projectFolder });

test("there are documents to judge", () => {
  expect(documents).toContain("README.md");
  expect(documents.length).toBeGreaterThan(10);
});

test.for(documents)("every link of %s leads somewhere", (document) => {
  const links = [...read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/gu)].map(([, target = ""]) => target);
  const dead = links.filter((link) => {
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? document : path.join(path.dirname(document), file);
    if (!existsSync(path.join(projectFolder, target))) return true;
    return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
  });
  expect(dead).toEqual([]);
});

test.for(documents)("every npm script that %s names exists", (document) => {
  const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read("package.json")));
  const named = [...read(document).matchAll(/npm run (?:-s )?(?:--prefix \S+ )?([a-z][a-z0-9:-]*)/gu)].map(([, script = ""]) => script);
  expect(named.filter((script) => !(script in scripts))).toEqual([]);
});

test("the picture of a task's life is the machine", () => {
  const drawn = [...read("docs/task-state-machine.md").matchAll(/^ {4}(\w+) --> (\w+): (\w+)$/gmu)].map(([, ...arrow]) => arrow.join(" "));
  const decided = Object.entries(TRANSITIONS).flatMap(([phase, row]) =>
    Object.entries(row).flatMap(([event, next]) => (next === "refused" ? [] : [`${phase} ${next} ${event}`])),
  );
  expect(new Set(drawn)).toEqual(new Set(decided));
  expect(drawn).toHaveLength(decided.length);
  expect(
    Object.entries(STATUS_OF_PHASE)
      .filter(([, status]) => status === "working")
      .map(([phase]) => phase),
  ).toEqual(["queued", "running"]);
});

test("the table of configuration has every variable that a process reads, and no other", () => {
  const described = [...read("docs/run-it.md").matchAll(/^\| `([A-Z_]+)` +\|/gmu)].map(([, name = ""]) => name);
  const sources = ["cli", "server", "worker"].map((app) => read(`apps/${app}/src/config.ts`)).join("\n");
  const variables = new Set(sources.match(/\b(?:HOLDFAST|DATABASE)_[A-Z_]+[A-Z]\b/gu));
  // Between the demo and its own clients, and in the reader's shell; no setting.
  variables.delete("HOLDFAST_TOKEN");
  expect(new Set(described)).toEqual(variables);
});

test("the list of decisions is complete and calls each by its title", () => {
  const listed = [...read("docs/README.md").matchAll(/^(\d+)\. \[(.+)\]\((adr\/.+)\)$/gmu)].map(([, number, title, file = ""]) => ({
    file: path.join("docs", file),
    heading: `# ${number}. ${title}`,
  }));
  const present = globSync("docs/adr/*.md", { cwd: projectFolder }).toSorted((a, b) => a.localeCompare(b));
  expect(listed).toEqual(present.map((file) => ({ file, heading: read(file).split("\n")[0] })));
});

test.for(["README.md", "docs/connect-a-client.md"])("%s connects clients as the command line says", (document) => {
  const blocks = codeBlocks(read(document));
  for (const { client, text } of clientConfigurations({ url: "http://127.0.0.1:8400/mcp", token: null })) {
    const isThere = text.startsWith("{") ? blocks.some((block) => isSameJson(block, text)) : blocks.includes(text);
    expect({ client, isThere }).toEqual({ client, isThere: true });
  }
});

function read(file: string): string {
  return readFileSync(path.join(projectFolder, file), "utf8");
}

/** As GitHub makes them of headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function codeBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```\w*\n(.*?)\n```$/gmsu)].map(([, block = ""]) => block);
}

function isSameJson(block: string, text: string): boolean {
  return block.startsWith("{") && isDeepStrictEqual(JSON.parse(block), JSON.parse(text));
}
