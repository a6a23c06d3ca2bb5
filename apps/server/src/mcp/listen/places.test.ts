import { expect, test } from "vitest";
import { createPlaces } from "./places.ts";

const alice = { issuer: "https://id.example", subject: "alice", groups: [], scopes: [] };
const bob = { ...alice, subject: "bob" };
const overloaded: unknown = expect.objectContaining({ code: "overloaded" });

test("one principal cannot take the places of the others, and a place that is left counts once", () => {
  const places = createPlaces({ streams: 3, streamsOfPrincipal: 2, tasks: 100, tasksOfPrincipal: 100 });
  const first = places.enter(alice, 1);
  places.enter(alice, 1);
  expect(() => places.enter(alice, 1)).toThrow(overloaded);
  places.enter(bob, 1);
  expect(() => places.enter(bob, 1)).toThrow(overloaded);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  places.enter(bob, 1);
  expect(() => places.enter(alice, 1)).toThrow(overloaded);
});

test("the tasks of all streams together are bounded", () => {
  const places = createPlaces({ streams: 10, streamsOfPrincipal: 10, tasks: 10, tasksOfPrincipal: 10 });
  const first = places.enter(alice, 6);
  expect(() => places.enter(bob, 5)).toThrow(overloaded);
  places.enter(bob, 4);
  first[Symbol.dispose]();
  places.enter(bob, 6);
});

test("one principal cannot have its streams follow all the tasks that may be followed", () => {
  const places = createPlaces({ streams: 10, streamsOfPrincipal: 10, tasks: 10, tasksOfPrincipal: 6 });
  const first = places.enter(alice, 4);
  expect(() => places.enter(alice, 3)).toThrow(overloaded);
  places.enter(alice, 2);
  places.enter(bob, 4);
  first[Symbol.dispose]();
  places.enter(alice, 4);
});

test("a refusal takes no place", () => {
  const places = createPlaces({ streams: 10, streamsOfPrincipal: 1, tasks: 10, tasksOfPrincipal: 10 });
  const first = places.enter(alice, 1);
  expect(() => places.enter(alice, 1)).toThrow(overloaded);
  first[Symbol.dispose]();
  places.enter(alice, 10);
});
