import { parse } from "yaml";
import { ebbPath } from "../../harness/ebb.ts";
import { images } from "../cluster.ts";
import { runProgram } from "../kubectl.ts";
import type { KubeObject } from "../objects.ts";

/** Returns what `ebb inject` makes of an object. */
export async function addEbb(object: KubeObject): Promise<KubeObject> {
  const command = [ebbPath, "inject", "--image", images.ebb];
  const { code, stdout, stderr } = await runProgram(command, { stdin: JSON.stringify(object) });
  if (code !== 0) throw new Error(`${command.join(" ")}: exit code ${code}\n${stderr}`);
  return parse(stdout);
}
