import { expect, test } from "vitest";
import { readDescriptor, replacesFolder } from "./descriptor.ts";

test("name, versions and dependencies are read from what launchers write, on one line or on many", () => {
  const descriptor = readDescriptor(
    "mod:descriptor.mod",
    Buffer.from('\uFEFFname="A \\"B\\""\r\nversion="1.2"tags={\r\n"X" }supported_version="1.16.*"\r\ndependencies={ "One" "Two" }'),
  );
  expect(descriptor).toMatchObject({
    name: 'A "B"',
    version: "1.2",
    supportedVersion: "1.16.*",
    dependencies: ["One", "Two"],
    diagnostics: [],
  });
});

test("a replaced folder is that folder alone, however it is spelled", () => {
  const descriptor = readDescriptor(
    "mod:descriptor.mod",
    Buffer.from('replace_path="common/decisions"\nreplace_path="/Events/"\nREPLACE_PATH = "history\\\\states"'),
  );
  expect(["common/decisions", "events", "history/states"].map((folder) => replacesFolder(descriptor, folder))).toEqual([true, true, true]);
  expect(["common", "common/decisions/categories", "event"].map((folder) => replacesFolder(descriptor, folder))).toEqual([
    false,
    false,
    false,
  ]);
});

test("a slip is reported with its line, and the rest is read", () => {
  const { name, diagnostics } = readDescriptor("mod:descriptor.mod", Buffer.from('tags={\n"X"\n}\n}\nname="A"'));
  expect(name).toBe("A");
  expect(diagnostics).toMatchObject([{ code: "EXTRA_CLOSE_BRACE", location: { path: "mod:descriptor.mod", start: { line: 4 } } }]);
});
