import type { FixedResource, ResourceTemplate } from "@holdfast/core";
import { PNG } from "./samples.ts";

export const resources: readonly FixedResource[] = [
  {
    uri: "test://static-text",
    name: "static-text",
    title: "Text",
    description: "A text that never changes.",
    mimeType: "text/plain",
    read: () => ({ text: "This is the content of the static text resource." }),
  },
  {
    uri: "test://static-binary",
    name: "static-binary",
    title: "Image",
    description: "An image that never changes.",
    mimeType: PNG.mimeType,
    read: () => ({ bytes: Buffer.from(PNG.data, "base64") }),
  },
  {
    uri: "test://watched-resource",
    name: "watched-resource",
    title: "Watched text",
    description: "A text that clients subscribe to, and that never changes.",
    mimeType: "text/plain",
    read: () => ({ text: "Nothing happens here." }),
  },
];

export const resourceTemplates: readonly ResourceTemplate[] = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template-data",
    title: "Data by id",
    description: "Data of any id.",
    mimeType: "application/json",
    read: ({ id }) => ({ text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }),
  },
];
