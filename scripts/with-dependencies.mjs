// Runs a command with the project's own tools, installing them first when they are missing or older than the lock file.
// Dependency-free and plain JavaScript: it is the one file that must run on whatever Node (20 or newer) started npm.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const stamp = path.join(root, "node_modules", ".holdfast-lock");
const [command, ...args] = process.argv.slice(2);

if (command === undefined) {
  console.error("usage: node scripts/with-dependencies.mjs COMMAND [ARGUMENT...]");
  process.exit(2);
}
if (!isInstalled()) install();
run();

/** The stamp is written last, so an interrupted install counts as none. */
function isInstalled() {
  try {
    return readFileSync(stamp, "utf8") === lockDigest();
  } catch {
    return false;
  }
}

function lockDigest() {
  return createHash("sha256")
    .update(readFileSync(path.join(root, "package-lock.json")))
    .digest("hex");
}

function install() {
  console.error("Holdfast: installing packages (once; about a minute) ...");
  // npm itself runs on the caller's Node; its engine warnings about our tools, which run on the pinned Node, mean nothing here.
  const result = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (result.status !== 0) {
    rmSync(stamp, { force: true });
    console.error("Holdfast: `npm ci` failed; the lines above say why.");
    process.exit(1);
  }
  writeFileSync(stamp, lockDigest());
}

/** Tools resolve from node_modules/.bin first, so `node` is the pinned one. Signals reach the child; its exit code is ours. */
function run() {
  const bin = path.join(root, "node_modules", ".bin");
  const child = spawn(command, args, {
    stdio: "inherit",
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}` },
    shell: process.platform === "win32",
  });
  const forward = (signal) => child.kill(signal);
  // A terminal's Ctrl+C reaches the whole process group, this process included: it must outlive the child to report its code.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", forward);
  process.on("SIGHUP", forward);
  child.on("error", (error) => {
    console.error(`Holdfast: cannot start ${command}: ${error.message}`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 128 + (signal === "SIGINT" ? 2 : 15)));
}
