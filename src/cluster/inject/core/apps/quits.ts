import { pickOptions } from "../../../../shared/cli/core/options.ts";
import type { Environment } from "../../../../shared/core/environment.ts";
import { valuesIn, variablesIn } from "../facts/env.ts";
import { mayEnd } from "../facts/restart.ts";
import type { Pod } from "../pod.ts";
import type { App } from "./app.ts";

const endOptions = pickOptions("quitOn", "restartPolicy");
const quitOptions = pickOptions("quit", "signalProcess");

/** Reports whether `ebb run` will quit the sidecars there, by its variables. A value that it will refuse counts as yes. */
export function quits(app: App): boolean {
  const values = valuesIn(envOf(app), endOptions);
  return values?.quitOn !== "never" && values?.restartPolicy !== "Always";
}

/** Reports whether ebb may tell sidecars to quit when a container ends. */
export function mayQuit(app: App, pod: Pod): boolean {
  const hasTargets = app.looksForSidecars || app.isGiven("quit") || app.isGiven("signal-process");
  return hasTargets && mayEnd(app.container, pod) && quits(app);
}

/** Reports whether the container that ends last tells the proxy to quit: a helper, if there is one. */
export function lastQuits(apps: readonly App[], pod: Pod): boolean {
  const helpers = apps.filter(({ role }) => role === "helper");
  const last = helpers.length > 0 ? helpers : apps;
  return last.length > 0 && last.every((app) => mayQuit(app, pod) && !sparesProxy(app));
}

/** Reports whether variables leave out the proxy's quit (`--quit none`), with nothing instead. */
function sparesProxy(app: App): boolean {
  const { quit = [], signalProcess = [] } = valuesIn(envOf(app), quitOptions) ?? {};
  return quit.length > 0 && quit.every((one) => one === "none") && signalProcess.length === 0;
}

/** Returns the variables of a container that ebb starts or drains, with those that it adds. */
export function envOf({ evidence, variables }: App): Environment {
  return { ...evidence.env, ...variablesIn({ env: variables.map((one) => ({ ...one })) }) };
}
