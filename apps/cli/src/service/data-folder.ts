import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { parseWorkspaceId } from "@holdfast/core";
import { CommandError } from "../command.ts";
import { generateSigningKeys, signingKeySchema, type SigningKey } from "../dev-issuer/signing-keys.ts";
import { readJsonFile, readText, writePrivateFile } from "./json-file.ts";

/** What the development issuer must not forget: grants and tasks belong to subjects of its URL, and its port is part of that. */
export interface IssuerIdentity {
  readonly port: number;
  readonly keys: readonly SigningKey[];
}

/** The running service, as the other commands find it. */
const serviceSchema = z.object({
  pid: z.number().int().positive(),
  /** Where clients connect, and the audience of their tokens. */
  url: z.url(),
  /** Null when tokens come from somebody else's issuer. */
  issuer: z.url().nullable(),
  databaseUrl: z.string().min(1),
  /** The roots that the worker can reach by now. */
  roots: z.record(z.string(), z.string()),
});
export type RunningServiceFile = z.infer<typeof serviceSchema>;

const issuerSchema = z.object({ port: z.number().int().min(1).max(65_535), keys: z.array(signingKeySchema).min(1) });
const handleKeysSchema = z.string().regex(/^\w+:[\w-]{43}\s*$/u);

/** The folder in which a single-machine service keeps everything: database, keys, roots. Absolute paths. */
export interface DataFolder {
  readonly path: string;
  readonly postgres: string;
}

export function dataFolderAt(folder: string): DataFolder {
  return { path: folder, postgres: path.join(folder, "postgres") };
}

/** Makes the folder when it is missing. Others of this machine may pass through it (Postgres, when we are root) but not look around. */
export async function createDataFolder({ path: folder }: DataFolder): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  try {
    await mkdir(path.join(folder, "roots"), { recursive: true, mode: isRoot ? 0o711 : 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`cannot keep data in ${folder}: ${reason}; choose another folder with --data or HOLDFAST_DATA`, {
      cause: error,
    });
  }
}

/** The keys of the service (HOLDFAST_KEYS), made on first use. */
export async function handleKeys({ path: folder }: DataFolder): Promise<string> {
  const file = path.join(folder, "handle.keys");
  const kept = await readText(file);
  if (kept !== null) {
    const parsed = handleKeysSchema.safeParse(kept);
    if (!parsed.success)
      throw new CommandError(`the file ${file} is damaged: restore it, or remove it and lose the handles that it signed`);
    return parsed.data.trim();
  }
  const fresh = newHandleKeys();
  await writePrivateFile(file, `${fresh}\n`);
  return fresh;
}

export function newHandleKeys(): string {
  return `local:${randomBytes(32).toString("base64url")}`;
}

export async function readIssuerIdentity({ path: folder }: DataFolder): Promise<IssuerIdentity | null> {
  return await readJsonFile(path.join(folder, "issuer.json"), issuerSchema);
}

/** The issuer's identity, made on first use with this port; later starts keep the first one. */
export async function issuerIdentity(folder: DataFolder, firstPort: number): Promise<IssuerIdentity> {
  const kept = await readIssuerIdentity(folder);
  if (kept !== null) return kept;
  const fresh = { port: firstPort, keys: await generateSigningKeys() };
  await writePrivateFile(path.join(folder.path, "issuer.json"), JSON.stringify(fresh));
  return fresh;
}

/** The folders of the roots by name. One file for each, so that two commands at once lose none. */
export async function readRoots({ path: folder }: DataFolder): Promise<Readonly<Record<string, string>>> {
  const roots: Record<string, string> = {};
  for (const name of await readdir(path.join(folder, "roots")).catch(() => [])) {
    const target = parseWorkspaceId(name) === null ? null : await readText(path.join(folder, "roots", name));
    if (target !== null) roots[name] = target.trim();
  }
  return roots;
}

export async function writeRoot(folder: DataFolder, root: { name: string; target: string }): Promise<void> {
  await writePrivateFile(path.join(folder.path, "roots", root.name), `${root.target}\n`);
}

export async function readRunningService({ path: folder }: DataFolder): Promise<RunningServiceFile | null> {
  return await readJsonFile(path.join(folder, "service.json"), serviceSchema);
}

export async function writeRunningService({ path: folder }: DataFolder, service: RunningServiceFile): Promise<void> {
  await writePrivateFile(path.join(folder, "service.json"), `${JSON.stringify(service, null, 2)}\n`);
}

export async function removeRunningService({ path: folder }: DataFolder): Promise<void> {
  await rm(path.join(folder, "service.json"), { force: true });
}
