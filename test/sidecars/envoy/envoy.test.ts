import { envoyPath } from "../../../build/setup/envoy.mjs";
import { execTest } from "../exec.ts";
import { startHeld } from "../held.ts";

const admin = { address: { socket_address: { address: "127.0.0.1", port_value: 9901 } } };

execTest(
  {
    title: "Envoy",
    sidecar: "envoy",
    foundBy: /^port 9901$/,
    env: {},
    ready: { at: "9901/ready", status: 200 },
    exitCode: 0,
    quitOutcome: /^exited$/,
    secondQuit: { code: 69, outcome: /^connection refused/ },
    isUpWhileHeld: false,
    start(pod, isHeld = false) {
      const flags = ["--disable-hot-restart", "--concurrency", "1", "--config-yaml", JSON.stringify({ admin })];
      return startHeld({ pod, command: [envoyPath() as string, ...flags] }, isHeld);
    },
  },
  "envoy",
  "sh",
);
