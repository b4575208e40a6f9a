import { tryKubectl } from "./kubectl.ts";

/** Describes a namespace by what a person would look at first: pods, events, the last 30 lines of each log. */
export async function reportOn(namespace: string): Promise<string> {
  const ask = async (...words: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await tryKubectl(["--namespace", namespace, ...words]);
    return `${stdout}${stderr}`;
  };
  const pods = await ask("get", "pods", "-o", `jsonpath=${podLines}`);
  const events = await ask("get", "events", "--sort-by=.metadata.creationTimestamp", "-o", `jsonpath=${eventLines}`);
  const names = (await ask("get", "pods", "-o", "name")).split("\n").filter(Boolean);
  const logs = await Promise.all(names.map((name) => ask("logs", name, "--all-containers", "--prefix", "--tail=30")));
  return ["pods:", pods, "events:", events, "logs:", ...logs].join("\n");
}

const statuses = ["initContainerStatuses", "containerStatuses"].map(
  (kind) => `{range .status.${kind}[*]}{"  "}{.name}{" "}{.state}{" before: "}{.lastState}{"\\n"}{end}`,
);
const podLines = `{range .items[*]}{.metadata.name}{" "}{.status.phase}{" "}{.status.message}{"\\n"}${statuses.join("")}{end}`;
const eventLines = `{range .items[*]}{.involvedObject.name}{" "}{.reason}{": "}{.message}{"\\n"}{end}`;
