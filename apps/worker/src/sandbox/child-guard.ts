import { spawn } from "node:child_process";

/**
 * Kills the children of a worker that was killed itself. A child notices that its channel has closed, but only when its
 * event loop turns; one that is stuck in a loop of its own would burn a core for ever.
 */
export interface ChildGuard {
  watch(pid: number): void;
  forget(pid: number): void;
  close(): void;
}

/**
 * Reads `+PID` and `-PID`, and at the end of its input, which comes with the end of the worker, kills the process groups
 * that are left. A shell is all it takes: a second Node process would cost forty times the memory.
 */
const SCRIPT = `
groups=" "
while read -r line; do
  pid="\${line#?}"
  case "$line" in
    +*) groups="$groups$pid " ;;
    -*) groups="\${groups%%" $pid "*} \${groups#*" $pid "}" ;;
  esac
done
for pid in $groups; do kill -s KILL -- "-$pid"; done 2>/dev/null
`;

/** It leads a process group of its own, so that what kills the worker's group leaves it alive. */
export function startChildGuard(): ChildGuard {
  if (process.platform === "win32") return { watch: () => undefined, forget: () => undefined, close: () => undefined };
  const shell = spawn("/bin/sh", ["-c", SCRIPT], { detached: true, stdio: ["pipe", "ignore", "ignore"], env: {}, cwd: "/" });
  // Without a shell the children still leave with their channel; nothing else depends on the guard.
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  shell.unref();
  return {
    watch: (pid) => shell.stdin.write(`+${pid}\n`),
    forget: (pid) => shell.stdin.write(`-${pid}\n`),
    close: () => shell.stdin.end(),
  };
}
