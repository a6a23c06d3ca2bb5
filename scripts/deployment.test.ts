import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.dirname(import.meta.dirname);
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

test("docker compose sets only variables that a process reads", () => {
  const readByProcesses = globSync("apps/*/src/config.ts", { cwd: root }).map(read).join("\n");
  const set = [...read("docker-compose.yml").matchAll(/^ +((?:HOLDFAST|DATABASE)_\w+): /gmu)].map(([, name]) => name ?? "");
  expect(set).toContain("DATABASE_URL");
  expect(set.filter((name) => !new RegExp(String.raw`\b${name}\b`, "u").test(readByProcesses))).toEqual([]);
});

test("the load balancer asks the port that the nodes listen on", () => {
  const [, port] = /HOLDFAST_PORT: "(\d+)"/u.exec(read("docker-compose.yml")) ?? [];
  expect(port).toBeDefined();
  expect(read("ops/load-balancer/nginx.conf")).toContain(`server server:${port} resolve`);
});

test("the image is given every folder that it copies", () => {
  const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gmu)].flatMap(([, sources]) => (sources ?? "").split(" "));
  const admitted = read(".dockerignore").split("\n");
  expect(copied).toContain("migrations");
  expect(copied.filter((source) => !admitted.includes(`!${source}`))).toEqual([]);
});
