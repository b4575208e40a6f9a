import { spawnSync } from "node:child_process";
import { childPath } from "../../harness/compiled.ts";
import type { Candidate } from "../candidates.ts";
import { live } from "../measure.ts";
import { isEbb, type Row } from "./row.ts";

/** The command that runs another in a network of its own, as in a pod, in which nobody listens. */
const ALONE = [Bun.which("unshare") ?? "unshare", "--net", "--map-root-user"];

/** Measures what it costs to look for a sidecar if nothing tells of one, the tool's start and end included. */
export async function measureLooks(tools: readonly Candidate[], times: number): Promise<readonly Row[]> {
  const what = "processor while looking for a sidecar, % of a core";
  if (spawnSync(ALONE[0] as string, [...ALONE.slice(1), "true"]).status !== 0) return [{ what, values: {} }];
  const values: Record<string, readonly number[]> = {};
  for (const { name, path } of tools.filter(isEbb)) values[name] = await percentsOf(path, times);
  return [{ what, values, goals: [{ atMost: 1 }] }];
}

async function percentsOf(path: string, times: number): Promise<readonly number[]> {
  const percents: number[] = [];
  for (let left = times; left > 0; left--) {
    const words = [...ALONE, path, "run", "--host-network=false", "--", childPath(), "exit", "0"];
    const { code, cpuUs, startNs, endNs } = await live({ words, env: {} }, "silent");
    if (code !== 0) throw new Error(`${words.join(" ")} exited with ${code}`);
    percents.push((cpuUs * 1e5) / (endNs - startNs));
  }
  return percents;
}
