// For bun --preload: makes a function of ebb's source fail, as soon as the file PLANT_WHEN exists. PLANT names the
// file, the function and the way: `pod/quit/quit.ts endOne throw`. `throw`: it throws; `later`: a timer that it
// starts throws; `reject`: a promise that nobody awaits rejects.
import { existsSync, readFileSync } from "node:fs";
import { plugin } from "bun";

const [path = "", name = "", how = ""] = (process.env.PLANT ?? "").split(" ");

const acts: Readonly<Record<string, (error: Error) => unknown>> = {
  throw(error) {
    throw error;
  },
  later: (error) =>
    setTimeout(() => {
      throw error;
    }),
  reject: (error) => void Promise.reject(error),
};

Object.assign(globalThis, {
  plant() {
    if (existsSync(process.env.PLANT_WHEN ?? "")) acts[how]?.(new Error("planted"));
  },
});

plugin({
  name: "plant",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path: loaded }) => {
      const text = readFileSync(loaded, "utf8");
      return { contents: loaded.endsWith(`/src/${path}`) ? planted(text) : text, loader: "ts" };
    });
  },
});

/** Renames the function, and puts one in its place that calls the plant and then the function. */
function planted(text: string): string {
  const start = `function ${name}(`;
  if (!text.includes(start)) throw new Error(`${path} has no ${name}`);
  return text
    .replace(start, `function ${name}(...given) { plant(); return ${name}_(...given); }\nasync_ ${name}_(`)
    .replace("async_ ", text.includes(`async ${start}`) ? "async function " : "function ");
}
