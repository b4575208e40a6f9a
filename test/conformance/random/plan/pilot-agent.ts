import type { Random } from "../../../random.ts";
import type { AnswerName } from "../answers.ts";
import type { PlannedServer, ToolPlan } from "./planned.ts";
import { only200Words, planReadiness } from "./proxy.ts";

/** Plans a call of pilot-agent's `request` or `wait`, which hooks make. They run no command. */
export function planPilot(random: Random): ToolPlan {
  return random.chance(0.6) ? planRequest(random) : planWait(random);
}

const answersToRequests: readonly AnswerName[] = [
  ...(["json", "json", "json", "takes", "empty", "no newline", "binary", "quits", "takes, 202"] as const),
  ...(["400", "403", "404", "405", "500", "503", "301", "302 away", "garbage", "closes", "resets"] as const),
  ...(["live, chunked", "live, large", "live, ends by closing", "live, late", "half"] as const),
];

function planRequest(random: Random): ToolPlan {
  const port = random.weigh([70, 15_000], [15, 15_020], [10, 15_021], [5, 8080]);
  const method = random.weigh([45, "GET"], [35, "POST"], [5, "PUT"], [5, "DELETE"], [5, "get"], [5, "PURGE"]);
  const path = random.pick(["/stats", "stats", "/quitquitquit", "/config_dump?mask=a&b=c%20d", "/a//b/../c", "/ü", ""]);
  const body = random.weigh<readonly string[]>([75, []], [15, ["level=debug"]], [5, [""]], [5, ["-"]]);
  const flags = planFlags(random, port);
  const words = [
    "request",
    ...(random.chance(0.5) ? [...flags, method, path, ...body] : [method, path, ...body, ...flags]),
  ];
  const servers: PlannedServer[] = [];
  if (random.chance(0.93)) servers.push({ port, others: [random.pick(answersToRequests)], ends: [port] });
  return { env: {}, flags: words, servers, wait: "itself", isAlone: true };
}

function planFlags(random: Random, port: number): readonly string[] {
  const own = port === 15_000 ? [] : random.pick([[`--debug-port=${port}`], ["--debug-port", `${port}`]]);
  return [
    ...own,
    ...random.weigh<readonly string[]>([85, []], [8, ["--log_output_level=default:info"]], [7, ["--log_as_json"]]),
  ];
}

function planWait(random: Random): ToolPlan {
  const readiness = planReadiness(random, only200Words);
  const port = random.weigh([80, 15_021], [20, 15_020]);
  const flags = ["wait"];
  if (port !== 15_021) flags.push(`--url=http://localhost:${port}/healthz/ready`);
  if (!readiness.isEver) flags.push(random.pick(["--timeoutSeconds=1", "--timeoutSeconds=2"]));
  else if (random.chance(0.2)) flags.push("--timeoutSeconds", "20");
  if (random.chance(0.2)) flags.push("--periodMillis=100");
  if (random.chance(0.1)) flags.push("--requestTimeoutMillis", "300");
  const servers = readiness.server === undefined ? [] : [{ port, ...readiness.server, ends: [] }];
  return { env: {}, flags, servers, wait: readiness.isEver ? "itself" : "limited", isAlone: true };
}
