import { expect } from "bun:test";
import { ebbPath } from "../../harness/ebb.ts";
import { images, type Namespace } from "../cluster.ts";
import type { KubeObject } from "../objects.ts";

/** Applies manifests as `ebb inject --all | kubectl apply -f -` does. Resolves with what ebb has written to stderr. */
export async function applyInjected(here: Namespace, objects: readonly KubeObject[]): Promise<string> {
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const command = [ebbPath, "inject", "--image", images.ebb, "--all", "--registries", "none"];
  const ended = Bun.spawn(command, { stdin: Buffer.from(list), stdout: "pipe", stderr: "pipe" });
  const [stdout, said] = await Promise.all([ended.stdout.text(), ended.stderr.text()]);
  expect({ code: await ended.exited, said }).toEqual({ code: 0, said: expect.any(String) });
  const { code, stderr } = await here.tryKubectl(["apply", "-f", "-"], { stdin: stdout });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return said;
}
