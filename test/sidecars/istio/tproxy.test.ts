import { afterAll, beforeAll } from "bun:test";
import { drainTests } from "../drain.ts";
import { startIstiod } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

let istiod: AsyncDisposable;
beforeAll(async () => {
  istiod = await startIstiod();
});
afterAll(() => istiod[Symbol.asyncDispose]());

drainTests(istioMesh({ interception: "TPROXY" }));
