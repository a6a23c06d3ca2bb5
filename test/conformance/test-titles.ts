import { parseSync, Visitor, type ESTree } from "vite";

/** Calls that make a test factory, not a test: `test.for(cases)("title", ...)`. */
const FACTORIES: readonly string[] = ["for", "each", "skipIf", "runIf"];
/** Tests that never run prove nothing. */
const NEVER_RUN: readonly string[] = ["skip", "todo"];

/**
 * Titles of the tests in a source, each below the titles of its `describe` blocks: `a queue > holds`. Parameters stay as they are
 * written. Tests that are skipped whatever happens are left out. Throws for a title that is not written where the test is.
 */
export function testTitles(source: string, file: string): readonly string[] {
  const { program, module, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message ?? "no reason"}`);
  // Anybody may call a function of their own `describe`.
  const vitest = module.staticImports.find(({ moduleRequest }) => moduleRequest.value === "vitest")?.entries ?? [];
  const imported = new Map(vitest.map(({ localName, importName }) => [localName.value, importName.name]));
  const kindOf = ({ callee }: ESTree.CallExpression): "test" | "block" | null => {
    const [local = "", ...modifiers] = chainOf(callee);
    if (callee.type !== "CallExpression" && FACTORIES.includes(modifiers.at(-1) ?? "")) return null;
    const name = imported.get(local);
    if (name === "describe") return "block";
    return (name === "test" || name === "it") && !modifiers.some((modifier) => NEVER_RUN.includes(modifier)) ? "test" : null;
  };
  const titles: string[] = [];
  const blocks: string[] = [];
  new Visitor({
    CallExpression: (call) => {
      const kind = kindOf(call);
      if (kind === null) return;
      const title = titleOf(call, source, file);
      if (kind === "block") blocks.push(title);
      else titles.push([...blocks, title].join(" > "));
    },
    "CallExpression:exit": (call) => {
      if (kindOf(call) === "block") blocks.pop();
    },
  }).visit(program);
  return titles;
}

/** `test.concurrent.for(cases)` is `["test", "concurrent", "for"]`. */
function chainOf(callee: ESTree.Expression | ESTree.Super): string[] {
  if (callee.type === "Identifier") return [callee.name];
  if (callee.type === "CallExpression") return chainOf(callee.callee);
  if (callee.type !== "MemberExpression") return [NOT_A_NAME];
  return [...chainOf(callee.object), callee.property.type === "Identifier" ? callee.property.name : NOT_A_NAME];
}

/** Stands for what no call of vitest begins with: the regular expression in `/x/u.test(line)`. */
const NOT_A_NAME = "?";

function titleOf({ arguments: [title], start }: ESTree.CallExpression, source: string, file: string): string {
  if (title?.type === "Literal" && typeof title.value === "string") return title.value;
  if (title?.type === "TemplateLiteral") return source.slice(title.start + 1, title.end - 1);
  throw new Error(`${file} has a test without a title of its own: ${source.slice(start, start + 80)}`);
}
