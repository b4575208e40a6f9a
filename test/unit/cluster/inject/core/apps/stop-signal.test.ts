import { expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { stopSignals } from "../../../../../../src/shared/cli/core/syntax.ts";
import { app, changed, type Loose, policy, warnings } from "../injection.ts";

const stopped = (stopSignal: unknown, more: object = {}) => [app({ lifecycle: { stopSignal }, ...more })];

function told(pod: Loose): string | undefined {
  return pod.spec.containers[0].env.find(({ name }: Loose) => name === "EBB_STOP_SIGNAL")?.value;
}

// as the API has them (k8s.io/api core/v1, Signal)
test.each([
  ["SIGQUIT", "QUIT,TERM,INT"],
  ["SIGUSR1", "USR1,TERM,INT"],
  ["SIGRTMIN+3", "RTMIN+3,TERM,INT"],
  ["SIGRTMAX-14", "RTMAX-14,TERM,INT"],
  ["SIGTERM", undefined],
  ["SIGINT", undefined],
  [null, undefined],
])("ebb is told of lifecycle.stopSignal %p: %p", (signal, value) => {
  const containers = stopped(signal);
  const pod = changed({ containers });
  expect(told(pod)).toBe(value as string);
  expect(warnings({ containers })).toEqual([]);
  if (value !== undefined) expect(stopSignals.parse(value)).toHaveLength(3);
  expect(injectPod(pod, policy).kind).toBe("unchanged");
});

test.each<[string, readonly string[], string | undefined]>([
  ["nginx", ["/usr/sbin/nginx", "-g", "daemon off;"], "QUIT,TERM,INT"],
  ["PHP-FPM", ["php-fpm8.2", "-F"], "QUIT,TERM,INT"],
  ["Apache", ["apache2-foreground"], "WINCH,TERM,INT"],
  ["HAProxy", ["haproxy", "-f", "/etc/haproxy.cfg"], "USR1,TERM,INT"],
  ["another program", ["/my-nginx"], undefined],
])("a command in the manifest shows the STOPSIGNAL of its image, which is not looked up: %s", (_, command, value) => {
  const containers = [app({ command })];
  const pod = changed({ containers });
  expect(told(pod)).toBe(value as string);
  expect(injectPod(pod, policy).kind).toBe("unchanged");
});

test("what the pod or its container says itself comes first", () => {
  const annotations = { "ebb.dev/stop-signal": "HUP" };
  expect(told(changed({ containers: stopped("SIGQUIT"), annotations }))).toBe("HUP");
  const env = [{ name: "EBB_STOP_SIGNAL", value: "USR2" }];
  expect(told(changed({ containers: stopped("SIGQUIT", { env }) }))).toBe("USR2");
});

test.each(["SIGKILL", "SIGNOSUCH"])("%s, which ebb cannot catch, is warned of", (signal) => {
  const containers = stopped(signal);
  expect(told(changed({ containers }))).toBeUndefined();
  const message = expect.stringContaining(`ebb cannot catch ${signal}`);
  expect(warnings({ containers })).toEqual([["spec.containers[0].lifecycle.stopSignal", message]]);
});
