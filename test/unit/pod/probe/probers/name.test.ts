import { expect, test } from "bun:test";
import { createAddressProbers } from "../../../../../src/pod/probe/probers/name.ts";

/** Looks up one list after the other. Returns what each attempt asks, and what was created and ended before it. */
function attemptsAt(lists: readonly string[]): readonly string[] {
  let happened: string[] = [];
  const addresses = createAddressProbers((ip) => {
    happened.push(`+${ip}`);
    return {
      attempt: () => () => void happened.push(ip),
      end: () => void happened.push(`-${ip}`),
    };
  });
  let before = "";
  let ips: readonly string[] = [];
  return lists.map((list) => {
    if (list !== before) ips = [...list];
    before = list;
    const group = addresses.nextGroup(ips);
    if (group === undefined) happened.push(", none");
    else group.attempt(() => undefined)(); // cancelled at once, each tells its address
    const all = happened.join("");
    happened = [];
    return all;
  });
}

test.each([
  ["of up to four addresses asks all each time", ["abcd", "abcd"], ["+a+b+c+dabcd", "abcd"]],
  [
    "of more addresses asks four, and then the others",
    ["abcdef", "abcdef", "abcdef"],
    ["+a+b+c+d+e+fabcd", "ef", "abcd"],
  ],
  ["ends what an address that has left keeps", ["ab", "bc"], ["+a+bab", "-a+cbc"]],
  ["knows an address that comes back", ["ab", "b", "ab"], ["+a+bab", "-ab", "ab"]],
  ["without an address asks nothing", ["a", "", "a"], ["+aa", "-a, none", "a"]],
])("a name %s", (_, lists, happened) => {
  expect(attemptsAt(lists)).toEqual(happened);
});

test("a name is about to tell while an address is that it still has", () => {
  const addresses = createAddressProbers((ip) => ({ attempt: () => () => undefined, isDeciding: () => ip === "a" }));
  const decidingWith = (ips: readonly string[]) => {
    addresses.nextGroup(ips);
    return addresses.areDeciding();
  };
  expect([["b"], ["a", "b"], ["b"]].map(decidingWith)).toEqual([false, true, false]);
});
