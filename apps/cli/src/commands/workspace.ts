import { setTimeout as delay } from "node:timers/promises";
import { ACTIONS, parseWorkspaceId, type WorkspaceId } from "@holdfast/core";
import { addGrant, addWorkspace, listAllWorkspaces } from "@holdfast/db";
import { CommandError, defineCommand, readOption, UsageError, type Surroundings } from "../command.ts";
import { callerPath, type CliConfig } from "../config.ts";
import { readRoots, readRunningService, writeRoot, type DataFolder } from "../service/data-folder.ts";
import { withDatabase, type Reached } from "../service/with-database.ts";
import { actionList, chosenDataFolder, dataOption, workspaceName } from "./options.ts";
import { usableFolder } from "./usable-folder.ts";

export const workspaceCommand = defineCommand({
  name: "workspace",
  summary: "Adds a workspace, or lists those that exist",
  positionals: "add NAME | list",
  description: [
    "`add NAME --path DIR` makes a folder of this machine a workspace of the running service, and lets the subject of your tokens work there.",
    "`add NAME --root ROOT --folder SUB` names a folder below a root that workers declare (HOLDFAST_ROOTS), wherever they run.",
  ].join("\n"),
  options: {
    path: { type: "string", value: "DIR", help: "the folder, on this machine" },
    root: { type: "string", value: "ROOT", help: "instead of --path: a root that workers declare" },
    folder: { type: "string", value: "SUB", default: "", help: "with --root: the folder below it" },
    title: { type: "string", value: "TEXT", help: "what people call it" },
    subject: { type: "string", value: "NAME", default: "developer", help: "who may work there: a subject of the development issuer" },
    actions: { type: "string", value: "LIST", default: ACTIONS.join(","), help: "what that subject may do" },
    data: dataOption,
  },
  run: async ({ values, positionals, ...surroundings }) => {
    const folder = chosenDataFolder(surroundings.config, values.data);
    const [verb, name, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0] ?? ""}"`);
    if (verb === "list" && name === undefined) return await list(folder, surroundings);
    if (verb === "add") return await add(folder, { ...values, name }, surroundings);
    throw new UsageError("say `add NAME` or `list`");
  },
});

interface Added {
  readonly name: string | undefined;
  readonly path?: string | undefined;
  readonly root?: string | undefined;
  readonly folder: string;
  readonly title?: string | undefined;
  readonly subject: string;
  readonly actions: string;
}

async function add(folder: DataFolder, added: Added, { config, terminal }: Surroundings): Promise<number> {
  const id = readOption("NAME", workspaceName, added.name);
  const actions = readOption("--actions", actionList, added.actions);
  if ((added.path === undefined) === (added.root === undefined)) throw new UsageError("say where it is: either --path or --root");
  const target = added.path === undefined ? null : await usableFolder(callerPath(config, added.path));
  await withDatabase({ config, folder }, async (reached) => {
    const place =
      target === null ? { root: added.root ?? "", path: added.folder } : await placeOnThisMachine(folder, { id, target, reached });
    await keepWorkspace(reached, { id, ...place, ...(added.title === undefined ? {} : { title: added.title }) });
    const issuer = reached.service?.issuer ?? null;
    terminal.note(`The workspace ${id} is ${target ?? `the folder "${place.path}" of the root ${place.root}`}.`);
    if (issuer === null) {
      terminal.note(`Nobody may work there yet: holdfast grant add ${id} --issuer URL --subject NAME`);
      return;
    }
    const member = { workspaceId: id, issuer, memberKind: "principal", member: added.subject } as const;
    await addGrant(reached.database, { ...member, actions, expiresAt: null });
    terminal.note(`The subject ${added.subject} may ${actions.join(", ")} there.`);
  });
  if (target !== null) await untilReachable(folder, id, target);
  terminal.out(id);
  return 0;
}

/** The folder itself becomes a root of its workspace's name; the running service notices and hands it to its worker. */
async function placeOnThisMachine(
  folder: DataFolder,
  { id, target, reached }: { id: WorkspaceId; target: string; reached: Reached },
): Promise<{ root: string; path: string }> {
  if (reached.service === null) {
    throw new CommandError("--path needs the service of this machine (`npm start`); elsewhere, name a root of the workers with --root");
  }
  const present = (await readRoots(folder))[id];
  if (present !== undefined && present !== target) throw alreadyThere(id, present);
  if (present === undefined) await writeRoot(folder, { name: id, target });
  return { root: id, path: "" };
}

async function keepWorkspace(
  { database }: Reached,
  workspace: { id: WorkspaceId; root: string; path: string; title?: string },
): Promise<void> {
  if ((await addWorkspace(database, workspace)) === "added") return;
  const present = (await listAllWorkspaces(database)).find(({ id }) => id === workspace.id);
  if (present !== undefined && (present.root !== workspace.root || present.path !== workspace.path)) {
    throw alreadyThere(workspace.id, [present.root, present.path].filter((part) => part !== "").join("/"));
  }
}

/** Tasks and artifacts of a workspace belong to the folder it names, so the name is never moved to another one. */
function alreadyThere(id: string, place: string): CommandError {
  return new CommandError(`the workspace ${id} exists already, at ${place}: choose another name`);
}

/** Returns when the worker declares the root, so that the first call after this command finds somebody to run it. */
async function untilReachable(folder: DataFolder, id: string, target: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while ((await readRunningService(folder))?.roots[id] !== target) {
    if (Date.now() > deadline) {
      throw new CommandError(`the worker has not taken up ${target} within a minute: see what the service says`, { exitCode: 1 });
    }
    await delay(100);
  }
}

async function list(folder: DataFolder, { config, terminal }: { config: CliConfig } & Pick<Surroundings, "terminal">): Promise<number> {
  const workspaces = await withDatabase({ config, folder }, async ({ database }) => await listAllWorkspaces(database));
  const roots = await readRoots(folder);
  for (const { id, root, path } of workspaces) {
    const place = parseWorkspaceId(root) !== null && roots[root] !== undefined ? roots[root] : `root ${root}`;
    terminal.out(`${id}\t${[place, path].filter((part) => part !== "").join("/")}`);
  }
  if (workspaces.length === 0) terminal.note("There is no workspace yet: holdfast workspace add NAME --path DIR");
  return 0;
}
