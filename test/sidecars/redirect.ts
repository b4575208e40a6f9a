import { compiledProgram } from "./compile.ts";
import type { Pod } from "./pod.ts";

export interface Redirection {
  readonly how?: "REDIRECT" | "TPROXY";
  /** The proxy's own, whose connections are led nowhere. */
  readonly userId: number;
  /** Ports whose connections are not led to the proxy, with commas. */
  readonly notLed: string;
}

/** Leads the pod's connections to its proxy: Istio's own rules, made by its own program with the words of its injection template. */
export async function redirect({ run }: Pod, { how = "REDIRECT", userId, notLed }: Redirection): Promise<void> {
  const words = ["-p", "15001", "-z", "15006", "-u", `${userId}`, "-m", how, "-i", "*", "-x", "", "-b", "*"];
  await run(compiledProgram("pilot-agent").path, "istio-iptables", ...words, "-d", notLed);
}
