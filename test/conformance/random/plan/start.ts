import type { Random } from "../../../random.ts";
import type { Step } from "../../case.ts";
import type { Plan } from "./planned.ts";
import { setAll } from "./proxy.ts";

type Start = Pick<Plan, "env" | "launch" | "stdin" | "isPid1">;

/**
 * Plans with what the tool is started, and so its command should be: environment, stdin, limits, ignored and blocked
 * signals. Signals that the plan sends stay as they are.
 */
export function planStart(random: Random, steps: readonly Step[]): Start {
  const sent = steps.flatMap(({ act }) => (act === "ready" ? [] : [act.signal]));
  const free = [1, 10, 12, 13, 17, 28, 40].filter((signal) => !sent.includes(signal));
  const launch: string[] = [];
  if (random.chance(0.15)) launch.push("umask", random.pick(["000", "027", "077", "777"]));
  if (random.chance(0.1)) launch.push("ignore", `${random.pick(free.filter((signal) => signal !== 17))}`);
  if (random.chance(0.08)) launch.push("block", `${random.pick(free)}`);
  const limit = random.chance(0.15) ? random.pick(limits) : [];
  if (random.chance(0.15)) launch.push("file", `${random.pick([3, 4, 5, 7, 11, 30, 100])}`);
  launch.push(...limit); // last, because the limit may be lower than the number of files that are open then
  return {
    env: planVariables(random),
    launch,
    ...(random.chance(0.15) ? { stdin: random.pick(["", "hello\n", "x".repeat(100_000), "\u0000\u0001"]) } : {}),
    ...(random.chance(0.12) ? { isPid1: true } : {}),
  };
}

/** RLIMIT_CORE, NOFILE, STACK, FSIZE. */
const limits: readonly (readonly string[])[] = [
  ["limit", "4", "0"],
  ["limit", "7", "64"],
  ["limit", "7", "777"],
  ["limit", "3", "1048576"],
  ["limit", "1", "1000000"],
];

function planVariables(random: Random): Readonly<Record<string, string>> {
  const some = random.some(
    [
      ["HTTP_PROXY", "http://127.0.0.1:1"],
      ["http_proxy", "http://127.0.0.1:1"],
      ["ALL_PROXY", "socks5://127.0.0.1:1"],
      ["NO_PROXY", ""],
      ["EMPTY", ""],
      ["EQUALS", "a=b=c"],
      ["LINES", "a"],
      ["UMLAUT", "ü"],
      ["LONG", "x".repeat(60_000)],
      ["TZ", "Asia/Tokyo"],
      ["LANG", "tr_TR.UTF-8"],
      ["NODE_OPTIONS", "--inspect"],
      ["BUN_OPTIONS", "--smol"],
      ["NODE_ENV", "test"],
      ["NO_COLOR", "1"],
      ["HOME", "/nowhere"],
      ["lower.dotted-name", "x"],
      ["TMPDIR", "/nowhere"],
    ] as const,
    random.weigh([60, 0], [20, 1], [20, 4]),
  );
  return setAll(Object.fromEntries(some));
}
