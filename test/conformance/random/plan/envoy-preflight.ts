import type { Random } from "../../../random.ts";
import type { PlannedServer, ToolPlan } from "./planned.ts";
import { envoyWords, planQuit, planReadiness, setAll, waitOf } from "./proxy.ts";

/** Plans variables and servers for envoy-preflight. */
export function planEnvoyPreflight(random: Random): ToolPlan {
  const readiness = planReadiness(random, envoyWords);
  const admin = random.weigh(
    [82, "http://127.0.0.1:9901"],
    [5, "http://localhost:9901"],
    [4, undefined],
    [3, "http://127.0.0.1:9901/envoy"],
    [2, "http://[::1]:9901"],
    [2, "http://127.0.0.2:9901"],
    [1, "nonsense"],
    [1, "http://user:secret@127.0.0.1:9901"],
  );
  const start = random.weigh([88, undefined], [8, "true"], [4, "false"]);
  const env = setAll({
    ENVOY_ADMIN_API: admin,
    START_WITHOUT_ENVOY: start,
    ENVOY_KILL_API: random.weigh(
      [75, undefined],
      [12, "http://127.0.0.1:9902/kill"],
      [5, "http://127.0.0.1:9902/kill?now=1"],
      [4, "http://127.0.0.1:9902/kill/"],
      [4, "http://127.0.0.1:9903/nobody"],
    ),
    NEVER_KILL_ENVOY: random.weigh([90, undefined], [6, "true"], [4, "false"]),
    ALWAYS_KILL_ENVOY: random.weigh([50, undefined], [45, "true"], [5, "false"]),
  });
  const isWaiting = admin !== undefined && start !== "true";
  const ready = { ...readiness, isEver: readiness.isEver && admin !== "nonsense" };
  return {
    env,
    flags: [],
    servers: planServers(random, admin, readiness.server),
    wait: isWaiting ? waitOf(ready, false) : "itself",
  };
}

function planServers(
  random: Random,
  admin: string | undefined,
  ready: ReturnType<typeof planReadiness>["server"],
): readonly PlannedServer[] {
  const host = admin?.includes("::1") ? "::1" : admin?.includes("127.0.0.2") ? "127.0.0.2" : "127.0.0.1";
  const servers: PlannedServer[] = [];
  if (ready !== undefined) servers.push({ port: 9901, host, ...ready, others: planQuit(random) ?? ["404"] });
  const kill = planQuit(random);
  if (kill !== undefined) servers.push({ port: 9902, others: kill, ends: [9901, 9902] });
  return servers;
}
