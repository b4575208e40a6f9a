import { expect, test } from "bun:test";
import type { ImageQuery, Lookup } from "../../../../src/cluster/image/core/lookup.ts";
import { withLookups } from "../../../../src/cluster/inject/with-lookups.ts";
import { podIn, podOf, policy } from "./core/injection.ts";
import { found } from "./core/registry.ts";

const images = (find: (query: ImageQuery) => Promise<Lookup>) => () => ({ remembered: () => undefined, find });
const pods = (...names: readonly string[]) =>
  podOf({ containers: names.map((name, at) => ({ name: `c${at}`, image: name })) });

test("images are looked up together, each once, and their pods get what they start", async () => {
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();
  const find = async ({ image }: ImageQuery) => {
    asked.push(image);
    if (asked.length === 2) all.resolve();
    await all.promise; // in vain, if one is asked for after the other
    return found({ entrypoint: [`/${image}`] });
  };
  const pod = podIn(await withLookups(images(find), (inject) => inject(pods("a", "b", "a"), policy)));
  expect(asked).toEqual(["a", "b"]);
  expect(pod.spec.containers.map(({ command }: { command: string[] }) => command[3])).toEqual(["/a", "/b", "/a"]);
});

test("of sixty images at most eight are looked up at a time, and all in the end", async () => {
  let [atOnce, most] = [0, 0];
  const find = async ({ image }: ImageQuery) => {
    most = Math.max(most, ++atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce -= 1;
    return found({ entrypoint: [`/${image}`] });
  };
  const names = Array.from({ length: 60 }, (_, at) => `image-${at}`);
  const pod = podIn(await withLookups(images(find), (inject) => inject(pods(...names), policy)));
  const commands = pod.spec.containers.map(({ command }: { command: string[] }) => command[3]);
  expect([most, commands]).toEqual([8, names.map((name) => `/${name}`)]);
});

test("no registry is asked for pods that say their commands", async () => {
  const create = () => {
    throw new Error("asked");
  };
  expect(await withLookups(create, (inject) => inject(podOf(), policy).kind)).toBe("changed");
});
