import { stringify } from "yaml";
import pullSecrets from "./pull-secrets.yaml" with { type: "text" };
import reaper from "./reaper.yaml" with { type: "text" };
import webhook from "./webhook.yaml" with { type: "text" };

/** What can be installed. Each is a file that a person can read: webhook.yaml, reaper.yaml. */
export type ComponentName = "webhook" | "reaper";

const files: Readonly<Record<ComponentName, string>> = { webhook, reaper };

/** What is filled into a file. */
interface Filling {
  readonly image: string;
  /** A namespace that exists already, and stays; undefined for one of the component's own, which goes with it. */
  readonly namespace: string | undefined;
  /** More arguments of the program. */
  readonly args: readonly string[];
  /** Whether the program may read the Secrets that pods name to pull their images. */
  readonly readsPullSecrets: boolean;
}

/** Returns the YAML that installs a component, in the order to apply it. */
export function manifestOf(component: ComponentName, { image, namespace, args, readsPullSecrets }: Filling): string {
  const documents = `${files[component]}${readsPullSecrets ? pullSecrets : ""}`.split(/^---\n/m);
  const chosen = namespace === undefined ? documents : documents.filter((text) => !/^kind: Namespace$/m.test(text));
  const filled: Readonly<Record<string, string>> = { IMAGE: image, NAMESPACE: scalar(namespace ?? `ebb-${component}`) };
  return chosen.join("---\n").replaceAll(/^( *- )--image=IMAGE$|IMAGE|NAMESPACE/gm, (found, dash?: string) => {
    if (dash === undefined) return filled[found] as string;
    return [`--image=${image}`, ...args.map(scalar)].map((arg) => `${dash}${arg}`).join("\n");
  });
}

/** Quotes a text if YAML 1.1, as Kubernetes reads it, would take it for anything else: `on`, `1:30`, `a: b`. */
function scalar(text: string): string {
  return stringify(text, { version: "1.1", lineWidth: 0, blockQuote: false }).trimEnd();
}
