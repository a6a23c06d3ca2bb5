import { expect, test } from "vitest";
import { scanTexts } from "../testing/scan-texts.ts";

const layout = { "holdfast.json": '{ "hoi4": { "mod": "mine", "game": "game" } }', "mine/descriptor.mod": "" };
const waiting = (id: string, immediate = "") =>
  `country_event = { id = ${id} hidden = yes is_triggered_only = yes immediate = { ${immediate} } }\n`;

const GAME = {
  "game/events/News.txt": `add_namespace = news ${waiting("news.1")}${waiting("news.2")}${waiting("news.3")}`,
  "game/events/other.txt": waiting("news.10", "country_event = news.1 country_event = news.2 cheer = yes mourn = yes"),
  "game/common/scripted_effects/moods.txt": "cheer = { } mourn = { } unused = { }",
};

const overridesIn = async (files: Record<string, string>) =>
  (await scanTexts({ ...layout, ...GAME, ...files })).diagnostics.filter(({ code }) => code === "SOURCE_OVERRIDE_DROPS_DEFINITIONS");

test("a file of the mod that hides one of the game is told what of it others still use", async () => {
  expect(
    await overridesIn({
      "mine/events/news.txt": `add_namespace = news ${waiting("news.1")}`,
      "mine/common/scripted_effects/Moods.txt": "Cheer = { }",
    }),
  ).toMatchObject([
    {
      location: { path: "mod:common/scripted_effects/Moods.txt" },
      details: { overridden: "game:common/scripted_effects/moods.txt", lost: ["mourn"] },
    },
    { location: { path: "mod:events/news.txt" }, details: { overridden: "game:events/News.txt", lost: ["news.2"] } },
  ]);
});

test("what the mod defines elsewhere, and what nobody uses, is not missed", async () => {
  expect(
    await overridesIn({
      "mine/events/news.txt": `add_namespace = news ${waiting("news.1")}`,
      "mine/events/moved.txt": waiting("news.2"),
      "mine/common/scripted_effects/moods.txt": "cheer = { } mourn = { }",
    }),
  ).toEqual([]);
});

test("files that replace_path unloads are gone on purpose", async () => {
  const descriptor = { "mine/descriptor.mod": 'replace_path="events"' };
  expect(await overridesIn({ ...descriptor, "mine/events/news.txt": waiting("news.1", "country_event = news.2") })).toEqual([]);
});

test("what a hidden file holds is part of the revision, because it decides what is found", async () => {
  const mine = { "mine/events/news.txt": "add_namespace = news" };
  const scan = await scanTexts({ ...layout, ...GAME, ...mine });
  const edited = await scanTexts({ ...layout, ...GAME, ...mine, "game/events/News.txt": waiting("news.1") });
  expect(edited.revision).not.toBe(scan.revision);
});
