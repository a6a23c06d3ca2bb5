import { addGrant, listGrants, removeGrant, type GrantMember } from "@holdfast/db";
import { z } from "zod";
import { CommandError, defineCommand, readOption, UsageError } from "../command.ts";
import { withDatabase, type Reached } from "../service/with-database.ts";
import { actionList, chosenDataFolder, dataOption, workspaceName } from "./options.ts";

export const grantCommand = defineCommand({
  name: "grant",
  summary: "Says who may do what in a workspace",
  positionals: "add WORKSPACE | remove WORKSPACE | list [WORKSPACE]",
  description: "A grant holds for a subject, or for a group that the tokens of an issuer carry. It counts from the next request on.",
  options: {
    subject: { type: "string", value: "NAME", help: "the subject of the tokens" },
    group: { type: "string", value: "NAME", help: "instead of --subject: a group" },
    issuer: { type: "string", value: "URL", help: "who issues the tokens (default: the development issuer of the service)" },
    actions: { type: "string", value: "LIST", default: "read,run", help: "read looks, run starts reading operations, write changes files" },
    expires: { type: "string", value: "DATE", help: "until when, such as 2030-01-31 or 2030-01-31T18:00:00Z" },
    data: dataOption,
  },
  run: async ({ values, positionals, config, terminal }) => {
    const folder = chosenDataFolder(config, values.data);
    const [verb, name, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0] ?? ""}"`);
    if (verb !== "add" && verb !== "remove" && verb !== "list") throw new UsageError("say `add`, `remove` or `list`");
    if (verb === "list") {
      const workspace = name === undefined ? undefined : readOption("WORKSPACE", workspaceName, name);
      const grants = await withDatabase({ config, folder }, async ({ database }) => await listGrants(database, workspace));
      for (const { workspaceId, memberKind, member, issuer, actions, expiresAt } of grants) {
        const until = expiresAt === null ? "" : `\tuntil ${expiresAt.toISOString()}`;
        terminal.out(`${workspaceId}\t${memberKind === "group" ? "group" : "subject"} ${member}\t${actions.join(",")}\t${issuer}${until}`);
      }
      return 0;
    }
    const workspaceId = readOption("WORKSPACE", workspaceName, name);
    const actions = readOption("--actions", actionList, values.actions);
    const expiresAt = values.expires === undefined ? null : readOption("--expires", futureDate, values.expires);
    return await withDatabase({ config, folder }, async (reached) => {
      const member: GrantMember = { workspaceId, issuer: issuerOf(values.issuer, reached), ...memberOf(values) };
      if (verb === "remove") {
        if (!(await removeGrant(reached.database, member))) throw new CommandError(`${member.member} has no grant in ${workspaceId}`);
        return 0;
      }
      if ((await addGrant(reached.database, { ...member, actions, expiresAt })) === "workspace_unknown") {
        throw new CommandError(`there is no workspace ${workspaceId}: holdfast workspace list`);
      }
      return 0;
    });
  },
});

const futureDate = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], "expected a date such as 2030-01-31")
  .transform((text) => new Date(text))
  .refine((date) => date.getTime() > Date.now(), "expected a date in the future");

function issuerOf(given: string | undefined, { service }: Reached): string {
  const issuer = given ?? service?.issuer;
  if (issuer === undefined || issuer === null) throw new UsageError("say whose tokens are meant: --issuer URL");
  return issuer;
}

function memberOf({ subject, group }: { subject?: string; group?: string }): Pick<GrantMember, "memberKind" | "member"> {
  if (subject !== undefined && group === undefined) return { memberKind: "principal", member: subject };
  if (group !== undefined && subject === undefined) return { memberKind: "group", member: group };
  throw new UsageError("say who: either --subject or --group");
}
