import { afterAll, beforeAll } from "bun:test";
import { lifeTests } from "../life.ts";
import { startIstiod } from "./istiod.ts";
import { istioSubject } from "./subject.ts";

let istiod: AsyncDisposable;
beforeAll(async () => {
  istiod = await startIstiod();
});
afterAll(() => istiod[Symbol.asyncDispose]());

lifeTests(istioSubject());
