import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { image, named } from "../chosen.ts";
import { app, changed, type Given, type Loose, podIn, podOf, policy, warnings } from "../injection.ts";
import { imageSays, unknownImage } from "../registry.ts";

const unnamed = (more: object = {}) => ({ name: "app", image, ...more });
const instead = "; or set command here, or ebb.dev/entrypoint.app, to its ENTRYPOINT and CMD";

function statusOf(pod: Loose): Loose {
  return JSON.parse(pod.metadata.annotations["ebb.dev/status"]);
}

describe("in a server, a container whose command nobody knows", () => {
  test("gets ebb's volume, what ebb drain reads, and its hook; it starts as it did", () => {
    const annotations = { "ebb.dev/quit-timeout": "9s", "ebb.dev/min-drain": "7s", "ebb.dev/wait-timeout": "3s" };
    const ports = [{ containerPort: 8080 }];
    const given = { containers: [unnamed({ args: ["x"], ports })], annotations };
    const pod = changed(given, unknownImage);
    expect(pod.spec.containers).toEqual([
      {
        ...unnamed({ args: ["x"], ports }),
        env: [
          { name: "EBB_APP_PORT", value: "8080" },
          { name: "EBB_POD_GRACE", value: "30s" },
          { name: "EBB_MIN_DRAIN", value: "7s" },
        ],
        volumeMounts: [
          { name: "ebb", mountPath: "/ebb.dev", readOnly: true },
          { name: "ebb-annotations", mountPath: "/etc/podinfo", readOnly: true },
        ],
        lifecycle: { preStop: { exec: { command: ["/ebb.dev/ebb", "drain", "--drain=24s"] } } },
      },
    ]);
    expect(pod.spec.initContainers[0].name).toBe("ebb-install");
    expect(pod.spec.volumes.map(({ name }: Loose) => name)).toEqual(["ebb", "ebb-annotations"]);
  });

  test("is told to whoever applies it, and in the status, with the reason and what to do; of traffic there is no word", () => {
    const given = { containers: [unnamed({ ports: [{ containerPort: 80 }] })] };
    const message = `the command of "app" is unknown, so ebb only drains it: WHY${instead}`;
    expect(warnings(given, unknownImage)).toEqual([["spec.containers[0].command", message]]);
    expect(statusOf(changed(given, unknownImage)).containers.app).toMatchObject({ hook: true, unwrapped: "WHY" });
    expect(injectPod(podOf(given), { ...policy, ...unknownImage })).toMatchObject({ containers: [], drained: ["app"] });
  });

  test.each<[object, string]>([
    [{}, instead],
    [{ args: ["x"] }, "; or set command here, or ebb.dev/entrypoint.app, to its ENTRYPOINT"],
  ])("that has %j can be given what the image has", (more, way) => {
    expect(warnings({ containers: [unnamed(more)] })[0]?.[1]).toEndWith(`: no registry was asked for ${image}${way}`);
  });

  test("is not hooked a second time, is wrapped once its command is known, and is what it was once ebb goes", () => {
    const given = { containers: [unnamed()] };
    const hooked = changed(given, unknownImage);
    expect(injectPod(hooked, { ...policy, ...unknownImage }).kind).toBe("unchanged");
    expect(injectPod(hooked, { ...policy, ...imageSays({}) })).toMatchObject({ pod: changed(given, imageSays({})) });
    const out = structuredClone(hooked);
    out.metadata.annotations["ebb.dev/inject"] = "false";
    const before = podOf({ ...given, annotations: { "ebb.dev/inject": "false" } });
    expect(injectPod(out, policy)).toMatchObject({ kind: "removed", pod: before, containers: ["app"] });
  });

  test("is hooked beside those that ebb starts, which a proxy is held for; alone, the proxy drains as long", () => {
    const containers = [named("known"), unnamed(), { name: "envoy", image: "envoyproxy/envoy:v1.38.0" }];
    const pod = changed({ containers }, unknownImage);
    const commands = pod.spec.containers.map(({ command, lifecycle }: Loose) => [
      command?.[1],
      lifecycle?.preStop.exec.command[1],
    ]);
    expect(commands).toEqual([
      ["run", undefined],
      [undefined, "drain"],
      [undefined, "hold"],
    ]);
    expect(Object.keys(statusOf(pod).containers)).toEqual(["known", "app", "envoy"]);
    const alone = changed({ containers: containers.slice(1) }, unknownImage);
    const ofProxy = ["/ebb.dev/ebb", "drain", "--sidecar=envoy", "--drain=24s"];
    expect(alone.spec.containers[1].lifecycle.preStop.exec.command).toEqual(ofProxy);
  });

  test("waits for nothing, so no hook after its start keeps it waiting", () => {
    const containers = [unnamed({ lifecycle: { postStart: { exec: { command: ["/warm"] } } } })];
    expect(warnings({ containers }, unknownImage)).toHaveLength(1);
  });

  test.each<[string, object, Loose]>([
    [
      "that only sleeps is replaced",
      { sleep: { seconds: 15 } },
      ["/ebb.dev/ebb", "drain", "--min-drain=15s", "--drain=24s"],
    ],
    ["that calls ebb finds it", { exec: { command: ["/ebb.dev/ebb", "drain"] } }, ["/ebb.dev/ebb", "drain"]],
    ["that does something else can call ebb", { exec: { command: ["/flush"] } }, ["/flush"]],
  ])("with a hook of its own %s", (_, preStop, command) => {
    const given = { containers: [unnamed({ lifecycle: { preStop } })] };
    const [container] = changed(given, unknownImage).spec.containers;
    expect(container.lifecycle.preStop.exec.command).toEqual(command);
    expect(container.volumeMounts[0].mountPath).toBe("/ebb.dev");
    const isOther = command[0] === "/flush";
    expect(warnings(given, unknownImage).some(([, said]) => said.includes("nothing drains: call /ebb.dev/ebb"))).toBe(
      isOther,
    );
  });

  test("with a hook of its own that calls ebb lets that drain for as long as the pod says", () => {
    const lifecycle = { preStop: { exec: { command: ["/ebb.dev/ebb", "drain"] } } };
    const given = { containers: [unnamed({ lifecycle })], annotations: { "ebb.dev/drain": "9s" } };
    const [{ env }] = changed(given, unknownImage).spec.containers;
    expect(env).toContainEqual({ name: "EBB_DRAIN", value: "9s" });
  });

  const drainOff = { annotations: { "ebb.dev/drain": "0" } };
  const off: readonly (readonly [string, Given, string])[] = [
    ["its drain is off", drainOff, "its drain is 0"],
    ["no sidecar is wanted", { annotations: { "ebb.dev/sidecar": "none" } }, "its sidecar is none"],
    [
      "there is no time",
      { spec: { terminationGracePeriodSeconds: 0 } },
      "its drain is 0, or its grace period too short",
    ],
    [
      "it says itself how long it drains",
      { containers: [unnamed({ env: [{ name: "EBB_DRAIN", value: "9s" }] })] },
      "it sets EBB_DRAIN itself",
    ],
    ["it is on its node's network without a proxy", { spec: { hostNetwork: true } }, "no proxy of the pod is named"],
  ];
  test.each(off)("is left as it is if %s", (_, given, why) => {
    const injection = injectPod(podOf({ containers: [unnamed()], ...given }), { ...policy, ...unknownImage });
    const message = expect.stringContaining(`WHY${instead}; it gets no drain hook either (${why}`);
    expect(injection).toMatchObject({ kind: "skipped", isMistake: true, problems: [{ message }] });
  });

  test("that is left as it is does not keep ebb from the others, and is told", () => {
    const given = { ...drainOff, containers: [named("known"), unnamed()] };
    const pod = changed(given, unknownImage);
    expect(pod.spec.containers[1]).toEqual(unnamed());
    expect(statusOf(pod).containers.app).toEqual({ unwrapped: "WHY" });
    expect(warnings(given, unknownImage)[0]?.[1]).toContain("no drain hook either");
    expect(injectPod(pod, { ...policy, ...unknownImage }).kind).toBe("unchanged");
    expect(injectPod(podOf(given), { ...policy, ...unknownImage })).toMatchObject({
      containers: ["known"],
      drained: [],
    });
  });

  test("is refused only for what the user can set right: a volume in ebb's place", () => {
    const containers = [unnamed({ volumeMounts: [{ name: "x", mountPath: "/ebb.dev" }] })];
    expect(injectPod(podOf({ containers }), policy)).toMatchObject({
      kind: "refused",
      problems: [{ field: expect.stringContaining("volumeMounts") }],
    });
  });

  test("has a reason of bounded length in its status", () => {
    const reason = "y".repeat(5000);
    const imageOf = () => ({ kind: "unknown", failure: "invalid", reason }) as const;
    expect(statusOf(changed({ containers: [unnamed()] }, { imageOf })).containers.app.unwrapped.length).toBeLessThan(
      250,
    );
  });
});

describe("a pod that ends", () => {
  const job = (containers: readonly object[], annotations = {}) =>
    injectPod(podOf({ containers, annotations, spec: { restartPolicy: "OnFailure" } }), { ...policy, ...unknownImage });

  test("stays as it is if nobody knows its command, also if it asks: nothing is wrong with it", () => {
    const problems = [
      { field: "spec.containers[0].command", message: `the command of "app" is unknown: WHY${instead}` },
    ];
    const reason = "its command is not known";
    expect(job([unnamed()])).toEqual({ kind: "skipped", isMistake: true, reason, problems, warnings: [] });
  });

  const containers = [app({ name: "known" }), app({ name: "other" }), unnamed()];
  const quitOns = (pod: Loose) =>
    pod.spec.containers.map(({ env = [] }: Loose) => env.find(({ name }: Loose) => name === "EBB_QUIT_ON")?.value);

  test("with one whose command nobody knows: the others are started, and quit nothing, as its end is not seen", () => {
    const injection = job(containers);
    const message = `the command of "app" is unknown: WHY${instead}; or name it in ebb.dev/sidecars, if it is one; so no ebb in this pod shuts down the sidecars: unless they are native, only ebb reaper ends the pod`;
    expect(injection).toMatchObject({ kind: "changed", containers: ["known", "other"], drained: [] });
    expect(injection.warnings).toEqual([{ field: "spec.containers[2].command", message }]);
    const pod = podIn(injection);
    expect(pod.spec.containers[2]).toEqual(unnamed());
    expect(quitOns(pod)).toEqual(["never", "never", undefined]);
    expect(pod.spec.volumes.map(({ name }: Loose) => name)).toEqual(["ebb", "ebb-annotations"]);
    expect(statusOf(pod).containers.app).toEqual({
      unwrapped:
        "WHY; no ebb in this pod shuts down the sidecars: unless they are native, only ebb reaper ends the pod",
    });
    expect(injectPod(pod, { ...policy, ...unknownImage }).kind).toBe("unchanged");
  });

  test("with such a one, in a server: an agent that waits after its SIGTERM may still serve it", () => {
    const injection = injectPod(podOf({ containers }), { ...policy, ...unknownImage });
    expect(quitOns(podIn(injection))).toEqual(["never", "never", undefined]);
  });

  test("with such a one, where the user knows who ends last, has that one quit", () => {
    expect(quitOns(podIn(job(containers, { "ebb.dev/quit-on.other": "always" })))).toEqual([
      "never",
      "always",
      undefined,
    ]);
  });

  test("is refused for a bad annotation, whatever is known of its image", () => {
    const annotations = { "ebb.dev/drain": "soon" };
    expect(job([unnamed()], annotations)).toMatchObject({
      kind: "refused",
      problems: [{ message: expect.stringContaining('got "soon"') }],
    });
  });
});

describe("a command that must be PID 1", () => {
  const why = (program: string) => `${program} must be PID 1, which ebb run would be: ebb help apps`;

  test.each<[string, object, object]>([
    ["an image's ENTRYPOINT", unnamed(), imageSays({ entrypoint: ["/init"] })],
    ["an image's CMD", unnamed(), imageSays({ entrypoint: [], cmd: ["/init", "x"] })],
    ["the args of an image without ENTRYPOINT", unnamed({ args: ["/init"] }), imageSays({ entrypoint: [] })],
    ["the manifest", unnamed({ command: ["/init"] }), {}],
    ["--entrypoint", unnamed(), { entrypoints: new Map([["app", ["/init"]]]) }],
  ])("is not wrapped, but drained, if it is said by %s", (_, container, changes) => {
    const pod = changed({ containers: [container] }, changes);
    expect(pod.spec.containers[0].command).toEqual((container as Loose).command);
    expect(pod.spec.containers[0].lifecycle.preStop.exec.command).toContain("drain");
    expect(statusOf(pod).containers.app).toMatchObject({ hook: true, unwrapped: why("/init") });
    expect(warnings({ containers: [container] }, changes)).toEqual([
      ["spec.containers[0].command", `ebb leaves "app" as it is, and only drains it: ${why("/init")}`],
    ]);
  });

  test.each(["/sbin/init", "/usr/sbin/init", "/lib/systemd/systemd", "/usr/lib/systemd/systemd"])(
    "leaves a pod that ends as it is: %s",
    (program) => {
      const given = { containers: [unnamed({ command: [program] })], spec: { restartPolicy: "Never" } };
      expect(injectPod(podOf(given), policy)).toMatchObject({
        kind: "skipped",
        reason: "its command must stay as it is",
        problems: [{ message: `ebb leaves "app" as it is: ${why(program)}` }],
      });
    },
  );

  test.each(["/init.sh", "/app/init", "init", "/usr/bin/systemd-notify"])("is not %s", (program) => {
    expect(changed({ containers: [unnamed({ command: [program] })] }).spec.containers[0].command[3]).toBe(program);
  });
});
