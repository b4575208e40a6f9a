import { expect, test } from "bun:test";
import type { AdminAnswer } from "../../../src/core/envoy/status.ts";
import { type KnownListeners, learnListeners } from "../../../src/system/envoy/listeners.ts";

const statics = { configs: [{ listener: { name: "static", stat_prefix: "static" } }] };

/** An Envoy with so many dynamic listeners; `knowsNames`: its /config_dump takes a name_regex. */
function startEnvoy(count: number, { knowsNames = true, warming = new Set<string>() } = {}) {
  const names = Array.from({ length: count }, (_, at) => `10.96.${Math.floor(at / 250)}.${at % 250}_80`);
  const asked: string[] = [];
  const get = async (path: string): Promise<AdminAnswer> => {
    asked.push(path);
    const { pathname, searchParams } = new URL(path, "http://admin");
    if (pathname === "/listeners") {
      return json({ listener_statuses: ["static", ...names].map((name) => ({ name, local_address: {} })) });
    }
    if (searchParams.get("resource") === "static_listeners") return json(statics);
    const wanted = new RegExp(knowsNames ? `^(?:${searchParams.get("name_regex")})$` : "");
    const found = names.filter((name) => wanted.test(name) && !warming.has(name));
    return json({ configs: found.map((name) => ({ active_state: { listener: { name } } })) });
  };
  return { names, asked, get };
}

function json(value: object): AdminAnswer {
  return { text: JSON.stringify(value) };
}

async function learn(get: (path: string) => Promise<AdminAnswer>) {
  const known: KnownListeners = new Map();
  const problem = await learnListeners(get, known);
  return { problem, names: [...known.keys()] };
}

test.each([
  ["none", 0, 2],
  ["one", 1, 3],
  ["50", 50, 3],
  ["2,000", 2000, 58],
])("%s from a control plane are learned once, some at a time", async (_, count, requests) => {
  const envoy = startEnvoy(count);
  const { problem, names } = await learn(envoy.get);
  expect({ problem, names: names.toSorted() }).toEqual({
    problem: undefined,
    names: ["static", ...envoy.names].toSorted(),
  });
  expect(envoy.asked).toHaveLength(requests);
});

test("an Envoy that tells all at once is not asked again", async () => {
  const envoy = startEnvoy(2000, { knowsNames: false });
  expect(await learn(envoy.get)).toEqual({ problem: undefined, names: ["static", ...envoy.names] });
  expect(envoy.asked).toHaveLength(3);
});

test("those that are warming are not waited for", async () => {
  const envoy = startEnvoy(40, { warming: new Set(["10.96.0.3_80", "10.96.0.20_80"]) });
  expect((await learn(envoy.get)).names).toHaveLength(39);
  expect(envoy.asked).toHaveLength(3);
});

test.each([
  ["static_listeners", 0],
  ["/listeners", 1],
  ["dynamic_listeners", 1],
])("where %s is not answered, what was learned before counts", async (part, count) => {
  const envoy = startEnvoy(60);
  const get = async (path: string) => (path.includes(part) ? { problem: "HTTP 403" } : await envoy.get(path));
  const { problem, names } = await learn(get);
  expect({ problem, count: names.length }).toEqual({ problem: "HTTP 403", count });
});

test("those that are known are not asked for again", async () => {
  const envoy = startEnvoy(60);
  const known: KnownListeners = new Map();
  await learnListeners(envoy.get, known);
  const { length } = envoy.asked;
  expect(await learnListeners(envoy.get, known)).toBeUndefined();
  expect(envoy.asked).toHaveLength(length + 2);
  expect(known.size).toBe(61);
});

test("listeners without a name are each known", async () => {
  const listeners = [80, 443].map((port) => ({
    listener: { address: { socket_address: { address: "::", port_value: port } } },
  }));
  const get = async (path: string) => json(path.includes("static_listeners") ? { configs: listeners } : {});
  const known: KnownListeners = new Map();
  expect(await learnListeners(get, known)).toBeUndefined();
  expect([...known.values()].map(({ statName }) => statName)).toEqual(["[__]_80", "[__]_443"]);
});
