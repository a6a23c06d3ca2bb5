import { expect, test } from "vitest";
import { inspectJson } from "./inspect-json.ts";

test.for([
  "null",
  '"text"',
  "[]",
  "{}",
  '{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}',
  '["a","a",{"a":"a"}]',
  '{"a":"}","b":"{\\"a\\":1,\\"a\\":2}","c":"\\\\"}',
  '{"":1,"a":"","b":""}',
  ' { "a" : [ 1 , 2 ] , "b" : { } , "c" : "," } ',
  '{"toString":1,"__proto__":2,"constructor":3}',
  `[0,-0,-1.5e+3,1E4,1.7976931348623157e308,-1.7976931348623157e308,1e-999,0e999,${"9".repeat(308)},"1e999",{"1e999":1}]`,
])("%s is fine", (text) => {
  expect(() => JSON.parse(text) as unknown).not.toThrow();
  expect(inspectJson(text, 100)).toBeNull();
});

test.for([
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
  '{"x":{"a":[],"b":1,"a":{}}}',
  '[[{"a":{"b":1},"a":0}]]',
  '{"a\\\\":1,"a\\\\":2}',
  '{"__proto__":1,"__proto__":2}',
  '{"a":"\\"","a":1}',
])("%s names a member twice", (text) => {
  expect(inspectJson(text, 100)).toBe("duplicate");
});

test("depth is counted over lists and objects together", () => {
  const nested = (levels: number): string => '{"a":['.repeat(levels / 2) + "]}".repeat(levels / 2);
  expect(inspectJson(nested(100), 100)).toBeNull();
  expect(inspectJson(nested(102), 100)).toBe("deep");
  expect(inspectJson("[".repeat(1_000_000), 100)).toBe("deep");
});

test.for(["1e999", "[-1e999]", '{"a":1E+309}', `[1,${"9".repeat(400)}]`, '{"a":{"b":[1,2.5e308]}}'])(
  "%s holds a number that no double can hold",
  (text) => {
    expect(inspectJson(text, 100)).toBe("huge");
  },
);
