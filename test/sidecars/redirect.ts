import { compiledProgram } from "./compile.ts";
import type { Pod } from "./pod.ts";

interface Redirection {
  /** The iptables target; by default REDIRECT. */
  readonly how?: "REDIRECT" | "TPROXY";
  /** The user of the proxy, whose own connections are not redirected. */
  readonly userId: number;
  /** The ports whose connections are not redirected, separated by commas. */
  readonly notLed: string;
}

/**
 * Redirects a pod's connections to its proxy by Istio's rules, made by Istio's program with the words of its injection
 * template.
 */
export async function redirect({ run }: Pod, { how = "REDIRECT", userId, notLed }: Redirection): Promise<void> {
  const words = ["-p", "15001", "-z", "15006", "-u", `${userId}`, "-m", how, "-i", "*", "-x", "", "-b", "*"];
  await run(compiledProgram("pilot-agent").path, "istio-iptables", ...words, "-d", notLed);
}
