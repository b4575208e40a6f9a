import { afterAll, beforeAll } from "bun:test";
import { drainTests } from "../drain.ts";
import { lifeTests } from "../life.ts";
import { startIstiod } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

let istiod: AsyncDisposable;
beforeAll(async () => {
  istiod = await startIstiod();
});
afterAll(() => istiod[Symbol.asyncDispose]());

lifeTests(istioMesh());
drainTests(istioMesh());
