import { definePack } from "@holdfast/core";
import { announcements } from "./announcements.ts";
import * as asking from "./asking.ts";
import * as content from "./content.ts";
import * as jobs from "./jobs.ts";
import { prompts } from "./prompts.ts";
import { resources, resourceTemplates } from "./resources.ts";

// What the official MCP conformance suite expects of a server, under the names that it calls it by.
export const pack = definePack({
  name: "conformance",
  operations: [
    // First, because the suite calls the first tool of the list without arguments.
    content.simpleText,
    content.imageContent,
    content.audioContent,
    content.embeddedResource,
    content.mixedContent,
    content.errorHandling,
    jobs.greet,
    jobs.slowCompute,
    jobs.failingJob,
    jobs.protocolErrorJob,
    jobs.withProgress,
    jobs.withLogging,
    jobs.withLog,
    jobs.headerParameter,
    jobs.jsonSchema,
    jobs.writeArtifact,
    asking.elicitation,
    asking.sampling,
    asking.roots,
    asking.requestState,
    asking.tamperedState,
    asking.multipleInputs,
    asking.multiRound,
    asking.capabilities,
    asking.nameForTask,
    asking.missingCapability,
    asking.streamingElicitation,
    asking.confirmDelete,
    asking.multiInput,
    asking.samplesPrompt,
    asking.elicitsContact,
    asking.elicitsDefaults,
    asking.elicitsChoices,
  ],
  foregroundTools: announcements,
  prompts,
  resources,
  resourceTemplates,
});
