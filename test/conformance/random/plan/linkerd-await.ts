import type { Random } from "../../../random.ts";
import type { PlannedServer, ToolPlan } from "./planned.ts";
import { planQuit, planReadiness, readyWords, setAll, waitOf } from "./proxy.ts";

/** Plans variables, flags and servers for linkerd-await. */
export function planLinkerd(random: Random): ToolPlan {
  const readiness = planReadiness(random, readyWords);
  const env = setAll({
    LINKERD_AWAIT_DISABLED: random.weigh([92, undefined], [4, "yes"], [2, "false"], [2, ""]),
    LINKERD_DISABLED: random.weigh([96, undefined], [3, "1"], [1, ""]),
    LINKERD_AWAIT_VERBOSE: random.weigh([95, undefined], [4, "true"], [1, "false"]),
  });
  const isDisabled = [env.LINKERD_AWAIT_DISABLED, env.LINKERD_DISABLED].some(Boolean);
  const port = random.weigh([80, 4191], [20, 4192]);
  const limit = planLimit(random, readiness.isEver);
  const flags = [...planPort(random, port), ...planMode(random), ...limit, ...planOthers(random)];
  const isFatal = random.chance(0.7);
  if (limit.length > 0 && !isFatal) flags.push("--timeout-fatal=false");
  const servers: PlannedServer[] = [];
  const quit = planQuit(random);
  if (readiness.server !== undefined) servers.push({ port, ...readiness.server, others: quit ?? ["404"] });
  const wait = isDisabled ? "itself" : waitOf(readiness, limit.length > 0);
  return { env, flags: [...flags, "--"], servers, wait };
}

function planPort(random: Random, port: number): readonly string[] {
  if (port === 4191 && random.chance(0.8)) return [];
  return random.pick([["-p", `${port}`], ["--port", `${port}`], [`--port=${port}`], [`-p${port}`], ["-p", `+${port}`]]);
}

function planMode(random: Random): readonly string[] {
  return random.weigh<readonly string[]>([35, []], [35, ["--shutdown"]], [20, ["-S"]], [10, ["-Sv"]]);
}

function planLimit(random: Random, isEver: boolean): readonly string[] {
  if (isEver)
    return random.weigh<readonly string[]>([80, []], [8, ["-t", "20s"]], [6, ["--timeout=0"]], [6, ["-t", "1d"]]);
  const short = random.pick(["700ms", "1s", "1200ms", " 1s"]);
  return random.weigh<readonly string[]>(
    [40, ["-t", short]],
    [35, ["--timeout", short]],
    [15, [`--timeout=${short}`]],
    [10, []],
  );
}

function planOthers(random: Random): readonly string[] {
  return random.weigh<readonly string[]>(
    [80, []],
    [8, ["-b", "200ms"]],
    [6, ["--backoff=100ms"]],
    [6, ["--backoff", "1s"]],
  );
}
