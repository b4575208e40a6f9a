import { settingProblems } from "../../inject/container/options.ts";
import type { InjectPolicy } from "../../inject/policy.ts";
import { allOf, EXIT, Failure } from "../../run/exit.ts";
import type { Values } from "../option.ts";
import type { injectionOptions } from "./injection-options.ts";

/**
 * Returns the policy for injection that the options ask for.
 * @throws Failure(64) if there is no image, or if `ebb run` would not take an option of --set
 */
export function policyOf(values: Values<typeof injectionOptions>): InjectPolicy {
  const { image, imagePullPolicy, all, volume, set, entrypoint } = values;
  const options = new Map(set);
  const problems = settingProblems(options);
  const missing = "--image: expected the image that has ebb as /ebb, such as registry.example.com/ebb:0.1.0";
  if (image === undefined) throw new Failure(EXIT.usage, allOf([missing, ...problems]));
  if (problems.length > 0) throw new Failure(EXIT.usage, allOf(problems));
  return { image, imagePullPolicy, all, volume, options, entrypoints: new Map(entrypoint) };
}
