import { defineOperation } from "@holdfast/core";
import { common, nothing } from "./common.ts";

// Operations that answer every kind of content.

export const simpleText = defineOperation({
  ...common,
  name: "test_simple_text",
  title: "Text",
  description: "Answers a text.",
  input: nothing,
});

export const imageContent = defineOperation({
  ...common,
  name: "test_image_content",
  title: "Image",
  description: "Answers an image.",
  input: nothing,
});

export const audioContent = defineOperation({
  ...common,
  name: "test_audio_content",
  title: "Audio",
  description: "Answers a sound.",
  input: nothing,
});

export const embeddedResource = defineOperation({
  ...common,
  name: "test_embedded_resource",
  title: "Embedded resource",
  description: "Answers a resource inside the result.",
  input: nothing,
});

export const mixedContent = defineOperation({
  ...common,
  name: "test_multiple_content_types",
  title: "Mixed content",
  description: "Answers a text, an image and a resource.",
  input: nothing,
});

export const errorHandling = defineOperation({
  ...common,
  name: "test_error_handling",
  title: "Error",
  description: "Answers an error of the tool.",
  input: nothing,
});
