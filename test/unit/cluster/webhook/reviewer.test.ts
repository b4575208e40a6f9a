import { describe, expect, test } from "bun:test";
import type { RegistryAuths } from "../../../../src/cluster/image/core/auths.ts";
import type { Lookup } from "../../../../src/cluster/image/core/lookup.ts";
import type { ImageCache } from "../../../../src/cluster/image/image-cache.ts";
import type { PullSecrets } from "../../../../src/cluster/webhook/admission.ts";
import { type Credentials, noCredentials, type PullCredentials } from "../../../../src/cluster/webhook/pod-images.ts";
import { createReviewer, type Decision } from "../../../../src/cluster/webhook/reviewer.ts";
import { until } from "../../../harness/ebb.ts";
import { bodyOf, patchOf, pod, policy } from "./reviewed.ts";

const found: Lookup = {
  kind: "found",
  command: { entrypoint: ["/shop"], cmd: ["serve"], stopSignal: undefined },
};
const unauthorized: Lookup = { kind: "unknown", failure: "unauthorized", reason: "registry.example.com: 401" };
const notAllowed: Lookup = { kind: "unknown", failure: "not-allowed", reason: "--registries does not name docker.io" };

const auths: RegistryAuths = new Map([["a", { username: "a", password: "b", identityToken: undefined }]]);

const pulled = (given: Partial<PullCredentials>): PullCredentials => ({
  auths: [],
  unused: [],
  isLate: false,
  ...given,
});

/** A job's pod, which gets ebb only if its image is known. */
const job = {
  ...pod,
  spec: {
    restartPolicy: "Never",
    imagePullSecrets: [{ name: "team-registry" }, { name: "../../secrets/x" }, { name: "team-registry" }, {}],
    containers: [{ name: "app", image: "registry.example.com/shop:1" }],
  },
};

interface World {
  readonly remembered?: (auths: readonly RegistryAuths[]) => Lookup | undefined;
  readonly find?: (limitMs: number) => Promise<Lookup>;
  readonly credentials?: Partial<Credentials>;
  readonly mostWaitingBytes?: number;
}

function reviewerIn({ remembered = () => undefined, find = async () => found, ...more }: World) {
  const asked: string[] = [];
  const images: ImageCache = {
    remembered: (_, auths, refusal) => remembered(auths) ?? refusal,
    find({ image }, given, limitMs) {
      asked.push(`${image} with ${given.length}`);
      return find(limitMs);
    },
  };
  const credentials = { ...noCredentials, ...more.credentials };
  const reviewer = createReviewer({ mostWaitingBytes: 100_000, ...more, images, credentials });
  const review = async (object: object, changes: object = {}, waitMs = 1000) => {
    const decision = await reviewer.decide(bodyOf({ object, ...changes }), policy, performance.now() + waitMs);
    if ("problem" in decision) throw new Error(decision.problem);
    return decision;
  };
  return { review, asked, reviewer };
}

/** Returns what the first container would start. */
function commandIn({ body }: Decision): unknown {
  const { response } = JSON.parse(body);
  if (response.patch === undefined) return undefined;
  const set = patchOf(response).filter((operation) => operation.path.startsWith("/spec/containers/0/command"));
  return set.map((operation) => ("value" in operation ? operation.value : operation));
}

describe("a pod", () => {
  test("with a command waits for nobody", async () => {
    const { review, asked } = reviewerIn({ find: () => Promise.reject() });
    const { response, waitedFor, lookups } = await review(pod);
    expect([response.result, asked, waitedFor.size, lookups.size]).toEqual(["injected", [], 0, 0]);
  });

  test("of a known image waits for nobody", async () => {
    const { review, asked } = reviewerIn({ remembered: () => found, find: () => Promise.reject() });
    const decision = await review(job);
    expect(commandIn(decision)).toEqual([["/ebb.dev/ebb", "run", "--", "/shop", "serve"]]);
    expect([asked, decision.waitedFor.size, [...decision.lookups.values()]]).toEqual([[], 0, [found]]);
  });

  test("of an unknown image waits until it is looked up, once for all of its containers", async () => {
    const { review, asked } = reviewerIn({});
    const [app] = job.spec.containers;
    const decision = await review({ ...pod, spec: { containers: [app, { ...app, name: "same" }] } });
    expect(commandIn(decision)).toEqual([["/ebb.dev/ebb", "run", "--", "/shop", "serve"]]);
    expect(asked).toEqual(["registry.example.com/shop:1 with 0"]);
    expect([...decision.waitedFor]).toEqual([...decision.lookups.keys()]);
  });

  test("whose image cannot be looked up is created, and it is said why", async () => {
    const { review } = reviewerIn({ find: async () => unauthorized });
    const { response } = await review(job);
    expect(response).toMatchObject({ allowed: true, result: "skipped" });
    expect(response.warnings?.[0]).toContain("registry.example.com: 401");
  });

  test("of a dry run is answered as any other", async () => {
    const { review } = reviewerIn({});
    expect((await review(job, { dryRun: true })).body).toBe((await review(job)).body);
  });
});

describe("the Secrets that a pod names", () => {
  const reading = () => {
    const read: PullSecrets[] = [];
    const credentials: Partial<Credentials> = {
      remembered: () => undefined,
      read: async (secrets) => {
        read.push(secrets);
        return pulled({ auths: [auths] });
      },
    };
    return { read, credentials };
  };

  test("are read, by those names that a Secret can have and in its namespace, before its image is looked up", async () => {
    const { read, credentials } = reading();
    const { review, asked } = reviewerIn({ credentials });
    expect((await review(job)).response.result).toBe("injected");
    expect(read).toEqual([{ namespace: "shop", names: ["team-registry"] }]);
    expect(asked).toEqual(["registry.example.com/shop:1 with 1"]);
  });

  test("are at most ten", async () => {
    const { read, credentials } = reading();
    const names = Array.from({ length: 1000 }, (_, at) => ({ name: `s${at}` }));
    await reviewerIn({ credentials }).review({ ...job, spec: { ...job.spec, imagePullSecrets: names } });
    expect(read[0]?.names).toHaveLength(10);
  });

  test("are not read for a registry that is not asked", async () => {
    const { read, credentials } = reading();
    const { review, asked } = reviewerIn({ credentials, remembered: () => notAllowed });
    const { response } = await review(job);
    expect(response.warnings?.[0]).toContain("--registries");
    expect([read, asked]).toEqual([[], []]);
  });

  test("take their time from the registry's", async () => {
    const waits: number[] = [];
    const find = async (waitMs: number) => {
      waits.push(waitMs);
      return unauthorized;
    };
    const read = async (_: PullSecrets, waitMs: number) => {
      waits.push(waitMs);
      const start = performance.now();
      await until("the Secrets have taken 20 ms", () => performance.now() - start >= 20);
      return pulled({});
    };
    const { review } = reviewerIn({ find, credentials: { remembered: () => undefined, read } });
    await review(job, {}, 60_000);
    const [ofSecrets = 0, ofRegistry = 0] = waits;
    expect(ofRegistry).toBeLessThan(ofSecrets - 15);
  });

  const unused = ['the Secret "team" does not exist', 'the Secret "old" is of the type Opaque'];

  test.each<[string, boolean]>([
    ["unauthorized", true],
    ["not-found", true],
    ["rate-limited", true],
    ["timeout", false],
    ["ambiguous", false],
  ])(
    "that are not used are named before the registry's failure if one might have helped: %s",
    async (failure, isSaid) => {
      const unknown: Lookup = { ...unauthorized, failure: failure as "unauthorized" };
      const start = isSaid ? `${unused.join("; ")}; registry.example.com` : "registry.example.com";
      const all = [
        {
          credentials: { remembered: () => undefined, read: async () => pulled({ unused }) },
          find: async () => unknown,
        },
        { credentials: { remembered: () => pulled({ unused }) }, remembered: () => unknown },
      ];
      for (const world of all)
        expect((await reviewerIn(world).review(job)).response.reason).toContain(
          `is unknown: ${start}: 401; or set command`,
        );
    },
  );

  test("that are not used are nothing to say if the image is found", async () => {
    const credentials = { remembered: () => undefined, read: async () => pulled({ unused }) };
    expect((await reviewerIn({ credentials }).review(job)).response.warnings).toBeUndefined();
  });

  test("that the API server does not give in time are named in the place of a registry, which is not asked", async () => {
    const late = 'the API server did not give the Secret "team" within 1s';
    const credentials = { remembered: () => undefined, read: async () => pulled({ unused: [late], isLate: true }) };
    const { review, asked } = reviewerIn({ credentials });
    const { response } = await review(job);
    expect([response.result, asked]).toEqual(["skipped", []]);
    expect(response.reason).toContain(`is unknown: ${late}; or set command`);
  });

  test("that take more than half of the time are named if the registry does not answer in the rest", async () => {
    const read = async (_: PullSecrets, waitMs: number) => {
      const end = performance.now() + waitMs * 0.6;
      await until("the Secrets have taken their time", () => performance.now() >= end);
      return pulled({});
    };
    const find = async (): Promise<Lookup> => ({ ...unauthorized, failure: "timeout" });
    const { review } = reviewerIn({ find, credentials: { remembered: () => undefined, read } });
    const { response } = await review(job, {}, 300);
    expect(response.reason).toMatch(/the API server took \d+ms to give the pod's Secrets; registry.example.com/);
  });
});

describe("while registries are slow", () => {
  const size = bodyOf({ object: job }).length;

  test("pods of so many bytes wait, the next ones are decided at once, and others may wait afterwards", async () => {
    const { promise, resolve } = Promise.withResolvers<Lookup>();
    const { review, reviewer, asked } = reviewerIn({ find: () => promise, mostWaitingBytes: 2 * size });
    const waiting = [review(job), review(job)];
    const third = await review(job);
    expect([third.response.result, asked.length, reviewer.waiting]).toEqual(["skipped", 2, 2]);
    expect(third.response.warnings?.[0]).toContain("too many pods wait for registries: create the pod again");
    resolve(found);
    for (const each of waiting) expect((await each).response.result).toBe("injected");
    expect((await review(job)).response.result).toBe("injected");
    expect(reviewer.waiting).toBe(0);
  });
});
