import type { Values } from "../../../shared/cli/core/option.ts";
import { nearest } from "../../../shared/cli/core/suggestion.ts";
import { allOf, EXIT, Failure } from "../../../shared/core/exit.ts";
import type { injectionOptions } from "./injection-options.ts";
import { annotationOptions, problemOf } from "./pod-annotations.ts";
import type { InjectPolicy } from "./policy.ts";

const SUCH = "an image with ebb at /ebb, such as registry.example.com/ebb:0.1.0";
const MISSING = `--image: expected ${SUCH}; neither the flag nor EBB_IMAGE is set`;

/** For a command that reads no EBB_IMAGE. @throws Failure(64) if there is no image */
export function expectImage(image: string | undefined): string {
  if (image === undefined) throw new Failure(EXIT.usage, `--image: expected ${SUCH}; it is not set`);
  return image;
}

/**
 * Returns the policy for injection that the options ask for.
 * @throws Failure(64) if there is no image, or if `ebb run` would not take an option of --set
 */
export function injectPolicyOf(values: Values<typeof injectionOptions>): InjectPolicy {
  const { image, imagePullPolicy, all, volume, set, entrypoint } = values;
  const options = new Map(set);
  const problems = settingProblems(options);
  if (image === undefined) throw new Failure(EXIT.usage, allOf([MISSING, ...problems]));
  if (problems.length > 0) throw new Failure(EXIT.usage, allOf(problems));
  return { image, imagePullPolicy, all, volume, options, entrypoints: new Map(entrypoint) };
}

/**
 * Checks the options for all pods (`--set`). Returns a line for each that is unknown or invalid; empty if all are
 * valid.
 */
export function settingProblems(settings: ReadonlyMap<string, string>): readonly string[] {
  return [...settings].flatMap(([flag, text]): readonly string[] => {
    const option = annotationOptions.get(flag);
    if (option !== undefined) {
      const problem = problemOf(option, text);
      return problem === undefined ? [] : [`--set ${flag}: ${problem}`];
    }
    const near = nearest(flag, [...annotationOptions.keys()]);
    return [`--set ${flag}: ebb run has no such option${near === undefined ? "" : `; did you mean ${near}?`}`];
  });
}
