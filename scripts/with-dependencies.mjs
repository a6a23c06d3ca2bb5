// Runs a command with the project's own tools, installing them first when they are missing or older than the lock file.
// Dependency-free and plain JavaScript: it is the one file that must run on whatever Node (20 or newer) started npm.
import { spawn } from "node:child_process";
import { accessSync, constants as fsConstants, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants, homedir, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bin = path.join(root, "node_modules", ".bin");
const installLock = path.join(root, ".holdfast", "installing");
const patienceMs = 15 * 60_000;

process.exitCode = await main(process.argv.slice(2));

async function main([command, ...args]) {
  if (command === undefined) return complain("usage: node scripts/with-dependencies.mjs COMMAND [ARGUMENT...]", 2);
  if (Number(process.versions.node.split(".")[0]) < 20) {
    return complain(`Holdfast needs Node 20 or newer to start from; this is ${process.version}.`, 2);
  }
  if (!isInstalled()) {
    const code = await installOnce();
    if (code !== 0) return code;
  }
  return await run(command, args, { ...process.env, PATH: [bin, ...searchPath()].join(path.delimiter) });
}

/**
 * npm leaves its own lock file inside node_modules as the last act of an install, so a missing one means none or an interrupted one, and
 * one that disagrees with ours means an outdated one. What is absent there must be optional: a package for another platform.
 */
function isInstalled() {
  const wanted = readPackages("package-lock.json");
  const present = readPackages(path.join("node_modules", ".package-lock.json"));
  if (wanted === null || present === null) return false;
  const isCurrent = ([name, { version, integrity, optional }]) => {
    if (!name.startsWith("node_modules/")) return true;
    const found = present[name];
    return found === undefined ? optional === true : found.version === version && found.integrity === integrity;
  };
  return Object.entries(wanted).every(isCurrent) && hasPinnedNode(wanted);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), "utf8")).packages ?? {};
  } catch {
    return null;
  }
}

/** The package `node` fetches its binary by an install script, which npm's settings can switch off. */
function hasPinnedNode(wanted) {
  return wanted["node_modules/node"] === undefined || existsSync(path.join(bin, process.platform === "win32" ? "node.cmd" : "node"));
}

/** Two commands started together on a fresh clone must not install over each other: the second waits for the first. */
async function installOnce() {
  const deadline = Date.now() + patienceMs;
  while (!takeLock()) {
    if (Date.now() > deadline) return complain(`Holdfast: another process has been installing packages for too long (${installLock}).`, 1);
    await delay(250);
  }
  try {
    return isInstalled() ? 0 : await install();
  } finally {
    releaseLock();
  }
}

async function install() {
  console.error("Holdfast: installing packages (once; about a minute) ...");
  // Asked for by name, because NODE_ENV=production or a personal npm setting would leave out the pinned tools.
  const options = ["--include=dev", "--include=optional", "--ignore-scripts=false", "--no-audit", "--no-fund", "--loglevel=error"];
  // Without our own .bin in the search path: npm would run on the very Node that it is about to delete.
  const env = { ...process.env, PATH: searchPath().join(path.delimiter), npm_config_update_notifier: "false" };
  const cache = borrowedCache();
  if (cache !== null) env.npm_config_cache = cache;
  const code = await run("npm", ["ci", ...options], env, { cwd: root, stdio: ["ignore", 2, 2] });
  if (cache !== null) rmSync(cache, { recursive: true, force: true });
  if (code !== 0) return complain(`Holdfast: \`npm ci\` failed with exit code ${code}; the lines above say why.`, 1);
  if (!isInstalled()) return complain("Holdfast: `npm ci` reported success, but node_modules does not match package-lock.json.", 1);
  return 0;
}

/** A temporary cache for an account whose home folder cannot be written, as in many containers; null where npm's own will do. */
function borrowedCache() {
  const usual = process.env.npm_config_cache ?? path.join(homedir(), ".npm");
  try {
    mkdirSync(usual, { recursive: true });
    accessSync(usual, fsConstants.W_OK);
    return null;
  } catch {
    return mkdtempSync(path.join(tmpdir(), "holdfast-npm-"));
  }
}

function searchPath() {
  return (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "" && path.resolve(folder) !== bin);
}

function takeLock() {
  try {
    mkdirSync(path.dirname(installLock), { recursive: true });
    writeFileSync(installLock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (!isHeld()) rmSync(installLock, { force: true });
    return false;
  }
}

function isHeld() {
  try {
    const holder = Number(readFileSync(installLock, "utf8"));
    // Between its creation and its first byte the file names nobody.
    if (holder === 0) return Date.now() - statSync(installLock).mtimeMs < 10_000;
    process.kill(holder, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function releaseLock() {
  rmSync(installLock, { force: true });
  try {
    rmdirSync(path.dirname(installLock));
  } catch {
    // The folder holds the data of `npm start`.
  }
}

/** Resolves with the child's exit code, or 128 plus the number of the signal that ended it. Signals reach the child. */
function run(command, args, env, options = { stdio: "inherit" }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, env, shell: process.platform === "win32" });
    const forward = (signal) => {
      // A terminal sends Ctrl+C to the whole process group, the child included: a second one would mean "at once".
      if (signal !== "SIGINT" || !hasTerminal()) child.kill(signal);
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    const settle = (code) => {
      for (const signal of signals) process.off(signal, forward);
      resolve(code);
    };
    child.on("error", (error) => settle(complain(`Holdfast: cannot start ${command}: ${error.message}`, 127)));
    child.on("exit", (code, signal) => settle(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

function hasTerminal() {
  return process.stdin.isTTY === true || process.stdout.isTTY === true || process.stderr.isTTY === true;
}

function complain(message, code) {
  console.error(message);
  return code;
}
