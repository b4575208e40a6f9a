import type { Random } from "../../../random.ts";
import type { PlannedServer, ToolPlan } from "./planned.ts";
import { envoyWords, planQuit, planReadiness, setAll, waitOf } from "./proxy.ts";

const ports = [15_000, 15_020, 15_021];

/** Plans variables and servers for either scuttle. */
export function planScuttle(random: Random): ToolPlan {
  const readiness = planReadiness(random, envoyWords);
  const admin = planAdmin(random);
  const limits = planLimits(random, readiness.isEver);
  const start = random.weigh([88, undefined], [6, "true"], [4, "false"], [2, ""]);
  const env = setAll({
    ...limits,
    START_WITHOUT_ENVOY: start,
    ENVOY_ADMIN_API: admin.value,
    ISTIO_QUIT_API: planQuitApi(random),
    NEVER_KILL_ISTIO: random.weigh([90, undefined], [5, "true"], [3, "false"], [2, ""]),
    NEVER_KILL_ISTIO_ON_FAILURE: random.weigh([88, undefined], [8, "true"], [4, "false"]),
    ISTIO_FALLBACK_PKILL: random.weigh([93, undefined], [5, "true"], [2, "false"]),
    SCUTTLE_LOGGING: random.weigh([80, "false"], [10, undefined], [5, "true"], [5, ""]),
    QUIT_REQUEST_TIMEOUT: random.weigh([80, undefined], [10, "3s"], [5, "4000ms"], [3, "0"], [2, "6s"]),
    GENERIC_QUIT_ENDPOINTS: planGeneric(random),
    GENERIC_QUIT_ONLY: random.weigh([93, undefined], [5, "true"], [2, "false"]),
  });
  const isWaiting = admin.value !== undefined && admin.value !== "" && start !== "true";
  const hasLimit = limits.WAIT_FOR_ENVOY_TIMEOUT !== undefined || limits.QUIT_WITHOUT_ENVOY_TIMEOUT !== undefined;
  const isBad = env.ENVOY_ADMIN_API === "nonsense";
  const ready = { ...readiness, isEver: readiness.isEver && !isBad };
  const agent = random.chance(0.06) ? ({ hasAgent: true } as const) : {};
  const servers = planServers(random, admin, readiness.server);
  return { env, flags: [], servers, wait: isWaiting ? waitOf(ready, hasLimit) : "itself", ...agent };
}

interface Admin {
  readonly value: string | undefined;
  readonly port: number;
  readonly host: string;
}

function planAdmin(random: Random): Admin {
  const at = (value: string | undefined, port = 15_000, host = "127.0.0.1"): Admin => ({ value, port, host });
  return random.weigh(
    [74, at("http://127.0.0.1:15000")],
    [6, at("http://localhost:15000")],
    [4, at(undefined)],
    [2, at("")],
    [5, at("http://127.0.0.1:9901", 9901)],
    [2, at("http://[::1]:15000", 15_000, "::1")],
    [2, at("http://127.0.0.1:15000/envoy")],
    [1, at("HTTP://127.0.0.1:15000")],
    [1, at("http://user:secret@127.0.0.1:15000")],
    [1, at("nonsense")],
    [2, at("http://127.0.0.2:15000", 15_000, "127.0.0.2")],
  );
}

function planQuitApi(random: Random): string | undefined {
  return random.weigh(
    [68, "http://127.0.0.1:15020"],
    [18, undefined],
    [4, ""],
    [4, "http://localhost:15020"],
    [3, "http://127.0.0.1:15020/agent"],
    [3, "http://127.0.0.1:15099"],
  );
}

/** Plans a limit of the wait: mostly a short one if the proxy is never ready, otherwise a long one or none. */
function planLimits(random: Random, isEver: boolean): Readonly<Record<string, string | undefined>> {
  if (isEver) {
    const long = random.weigh([80, undefined], [8, "20s"], [6, "0"], [3, "0s"], [3, "1m30s"]);
    return random.chance(0.5) ? { WAIT_FOR_ENVOY_TIMEOUT: long } : { QUIT_WITHOUT_ENVOY_TIMEOUT: long };
  }
  const short = random.pick(["700ms", "1s", "1.2s", "1s200ms"]);
  return random.weigh<Readonly<Record<string, string | undefined>>>(
    [45, { WAIT_FOR_ENVOY_TIMEOUT: short }],
    [35, { QUIT_WITHOUT_ENVOY_TIMEOUT: short }],
    [10, { WAIT_FOR_ENVOY_TIMEOUT: "30s", QUIT_WITHOUT_ENVOY_TIMEOUT: short }],
    [10, {}],
  );
}

function planGeneric(random: Random): string | undefined {
  return random.weigh(
    [80, undefined],
    [8, "http://127.0.0.1:8090/quit"],
    [5, "http://127.0.0.1:8090/quit,http://127.0.0.1:8091/stop?now=1"],
    [4, "http://127.0.0.1:8090/a , http://127.0.0.1:8091/b"],
    [2, ""],
    [1, "http://127.0.0.1:8092/nobody"],
  );
}

function planServers(random: Random, { port, host }: Admin, ready: ReturnType<typeof planReadiness>["server"]) {
  const servers: PlannedServer[] = [];
  const envoy = planQuit(random);
  if (ready !== undefined) servers.push({ port, host, ...ready, others: envoy ?? ["404"], ends: ports });
  const agent = planQuit(random);
  if (agent !== undefined) servers.push({ port: 15_020, others: agent, ends: [...ports, port] });
  const generic = planQuit(random);
  if (generic !== undefined) servers.push({ port: 8090, others: generic });
  servers.push({ port: 8091, others: ["quits"] });
  return servers;
}
