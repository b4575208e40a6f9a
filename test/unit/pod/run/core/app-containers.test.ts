import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { RestartPolicy } from "../../../../../src/shared/core/restart.ts";
import { after, hasSilentDeath, movesOf, type Pod, podOf } from "./app-containers-model.ts";

setDefaultTimeout(120_000);

/** Says what is wrong with a pod in which nothing can happen any more; empty if nothing is. */
function verdict(pod: Pod): string {
  if (pod.wrong !== "") return pod.wrong;
  if (pod.told === 0 && !pod.isCutOff && !hasSilentDeath(pod)) return "nobody asked the sidecar to exit";
  return "";
}

/** Visits every pod that any order of steps leads to, and returns how many there are. @throws Error if one is wrong */
function visitAll(first: Pod): number {
  const seen = new Set<string>();
  const left = [first];
  for (let pod = left.pop(); pod !== undefined; pod = left.pop()) {
    const moves = movesOf(pod);
    const wrong = moves.length > 0 ? pod.wrong : verdict(pod);
    if (wrong !== "") throw new Error(`${wrong}: ${JSON.stringify(pod)}`);
    for (const move of moves) {
      const next = after(pod, move);
      const key = JSON.stringify(next);
      if (seen.has(key)) continue;
      seen.add(key);
      left.push(next);
    }
  }
  return seen.size;
}

test.each<[RestartPolicy | undefined, readonly (readonly number[])[], number]>([
  [undefined, [[0], [1]], 2],
  ["Never", [[0], [1]], 2],
  ["OnFailure", [[0], [1, 0]], 2],
  [
    "OnFailure",
    [
      [1, 0],
      [1, 1, 0],
    ],
    3,
  ],
  ["Never", [[0], [0], [1]], 0],
  ["OnFailure", [[0], [0], [1, 0]], 0],
  ["Never", [[0], [0], [1]], 2],
  ["OnFailure", [[0], [0], [1, 0]], 1],
])(
  "in every order of steps the last one alone quits the sidecars: restartPolicy %p, exit codes %j, killed at most %d times",
  (policy, codes, crashes) => {
    expect(visitAll(podOf(policy, codes, crashes))).toBeGreaterThan(300);
  },
);

test("with restartPolicy Always nobody quits them", () => {
  let pod = podOf("Always", [[0], [1], [0]], 5);
  for (let step = 0; step < 500; step++)
    pod = after(pod, movesOf(pod)[step % movesOf(pod).length] ?? { at: 0, isCrash: false });
  expect(pod.told).toBe(0);
});

test("three containers, killed at any step and restarted by policy, in any order", () => {
  const lives = fc.array(fc.constantFrom(0, 1, 137), { maxLength: 3 });
  const policy = fc.constantFrom<RestartPolicy | undefined>(undefined, "Never", "OnFailure");
  const choices = fc.array(fc.nat(99), { maxLength: 150, size: "max" });
  const property = fc.property(
    policy,
    fc.tuple(lives, lives, lives),
    fc.nat(4),
    choices,
    (policy, codes, crashes, picks) => {
      let pod = podOf(policy, codes, crashes);
      let step = 0;
      for (let moves = movesOf(pod); moves.length > 0; moves = movesOf(pod)) {
        // after the choices no one is killed any more, and all take turns
        const pick = step < picks.length ? (picks[step] as number) : step;
        const allowed = step < picks.length ? moves : moves.filter(({ isCrash }) => !isCrash);
        pod = after(pod, allowed[pick % allowed.length] as (typeof moves)[number]);
        step += 1;
      }
      expect(verdict(pod)).toBe("");
    },
  );
  fc.assert(property, { numRuns: 5000 });
});
