import { describe, expect, test } from "bun:test";
import { namespace } from "../cluster.ts";
import { type Rollout, restartUnderLoad, type Way } from "./rollout.ts";

/** Longer than a busy machine needs to take a pod out of its Service. */
const minimum = ["--min-drain", "15s"];
const drain = ["drain", ...minimum, "--pod-grace", "60s"];
const run = ["--drain", "45s", ...minimum, "--pod-grace", "60s"];
const sleep = ["sleep", "5s"];

describe("a rolling restart of a Deployment behind its Envoys, under load,", () => {
  test.concurrent.each<Way>([
    { name: "with `ebb drain` as hook of both containers", isNative: false, appHook: drain, envoyHook: drain },
    { name: "with `ebb run --drain`, and a hook in the proxy's container", isNative: false, run, envoyHook: drain },
    { name: "beside native sidecars, with `ebb drain` as hook of the app's container", isNative: true, appHook: drain },
    { name: "beside native sidecars, with `ebb run --drain`, and no hook", isNative: true, run },
  ])("loses no request $name", async (way) => {
    await using here = await namespace();
    const rollout = await restartUnderLoad(here, way);
    const { losses, pods, logs } = rollout;
    tell(way, rollout);
    if (losses.length > 0) console.log(logs);
    expect(losses).toEqual([]);
    expect(pods.length).toBeGreaterThanOrEqual(4); // two before, two after
  });

  test.concurrent.each<Way>([
    { name: "without hooks", isNative: false },
    { name: "with a sleep of 5 s in both containers", isNative: false, appHook: sleep, envoyHook: sleep },
    { name: "with a sleep of 5 s, beside native sidecars", isNative: true, appHook: sleep },
  ])("loses requests $name: clients that keep connections are told nothing", async (way) => {
    await using here = await namespace();
    const rollout = await restartUnderLoad(here, way);
    tell(way, rollout);
    expect(rollout.losses).not.toEqual([]);
  });
});

function tell({ name }: Way, { sent, sentBy, losses, seconds }: Rollout): void {
  console.log(
    `${name}: ${losses.length} of ${sent} requests lost (${JSON.stringify(sentBy)}) in ${seconds.toFixed(1)} s`,
  );
}
