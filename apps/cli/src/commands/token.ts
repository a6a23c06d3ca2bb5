import { CommandError, defineCommand, readOption } from "../command.ts";
import { readIssuerIdentity, readRunningService } from "../service/data-folder.ts";
import { issuerUrl } from "../dev-issuer/issuer-server.ts";
import { signToken, tokenRequestSchema } from "../dev-issuer/sign-token.ts";
import { chosenDataFolder, dataOption, durationSeconds } from "./options.ts";

export const tokenCommand = defineCommand({
  name: "token",
  summary: "Prints a short-lived access token of the development issuer",
  description: [
    "The token is signed with the keys in the data folder and believed by the service that runs from there.",
    "It is all that is printed, so that a shell can take it: HOLDFAST_TOKEN=$(npm run -s holdfast -- token)",
  ].join("\n"),
  options: {
    subject: { type: "string", value: "NAME", default: "developer", help: "whom the token stands for" },
    scope: { type: "string", value: '"A B"', default: "hoi4:read", help: "scopes, separated by spaces" },
    group: { type: "string", value: "NAME", multiple: true, help: "a group of the subject; may be repeated" },
    ttl: { type: "string", value: "TIME", default: "15m", help: "how long it is valid: 90s, 15m, 8h" },
    algorithm: { type: "string", value: "ALG", default: "ES256", help: "ES256 or RS256" },
    audience: { type: "string", value: "URL", help: "the service that it is for (default: the one that runs from the data folder)" },
    headers: { type: "boolean", help: "print it as a JSON object of HTTP headers, as Claude Code's headersHelper wants it" },
    data: dataOption,
  },
  run: async ({ values, config, terminal }) => {
    if (config.isProduction) throw new CommandError("the development issuer gives no tokens with NODE_ENV=production");
    const folder = chosenDataFolder(config, values.data);
    const identity = await readIssuerIdentity(folder);
    if (identity === null)
      throw new CommandError(`there is no development issuer in ${folder.path} yet: start the service once with \`npm start\``);
    const audience =
      values.audience ?? (await readRunningService(folder))?.url ?? config.publicUrl ?? `http://127.0.0.1:${config.port}/mcp`;
    const { shape } = tokenRequestSchema;
    const { token, expiresAt } = await signToken(
      { url: issuerUrl(identity.port), keys: identity.keys },
      {
        subject: readOption("--subject", shape.subject, values.subject),
        scopes: readOption("--scope", shape.scopes, values.scope.split(" ").filter(Boolean)),
        groups: readOption("--group", shape.groups, values.group ?? []),
        audience: readOption("--audience", shape.audience, audience),
        ttlSeconds: readOption("--ttl", durationSeconds.pipe(shape.ttlSeconds), values.ttl),
        algorithm: readOption("--algorithm", shape.algorithm, values.algorithm),
      },
    );
    terminal.out(values.headers === true ? JSON.stringify({ Authorization: `Bearer ${token}` }) : token);
    if (terminal.isInteractive) terminal.note(`Valid until ${expiresAt.toLocaleTimeString()} for ${values.subject} at ${audience}.`);
    return 0;
  },
});
