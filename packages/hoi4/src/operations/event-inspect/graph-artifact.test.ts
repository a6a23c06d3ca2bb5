import { expect, test } from "vitest";
import { keepPace } from "../../pace.ts";
import { scanTexts } from "../../testing/scan-texts.ts";
import { graphArtifact } from "./graph-artifact.ts";

test("a document of exactly the limit is made, one byte more is not", async () => {
  const scan = await scanTexts({
    "events/a.txt": "add_namespace = a country_event = { id = a.1 hidden = yes is_triggered_only = yes title = ä }",
  });
  const pace = keepPace(new AbortController().signal);
  const whole = await graphArtifact(scan, pace, 1_000_000);
  const size = whole?.bytes.length ?? 0;
  expect(JSON.parse(Buffer.from(whole?.bytes ?? []).toString())).toMatchObject({ complete: true });
  expect((await graphArtifact(scan, pace, size))?.bytes).toEqual(whole?.bytes);
  expect(await graphArtifact(scan, pace, size - 1)).toBeNull();
});
