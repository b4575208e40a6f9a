import type { App } from "../apps/app.ts";
import type { Edit } from "../edits/edit.ts";
import type { PodFacts } from "../facts/facts.ts";
import { autoscaler } from "./autoscaler.ts";
import { command } from "./command.ts";
import type { Concern, Note, Plan } from "./concern.ts";
import { drainHooks } from "./drain-hooks.ts";
import { install } from "./install.ts";
import { lastOf } from "./last-of.ts";
import { lateFiles } from "./late-files.ts";
import { names } from "./names.ts";
import { native, nativeAnnotation } from "./native.ts";
import { options } from "./options.ts";
import { orchestrator } from "./orchestrator.ts";
import { outliving } from "./outliving.ts";
import { postStart } from "./post-start.ts";
import { proxyHooks } from "./proxy-hooks.ts";
import { readiness } from "./readiness.ts";

/**
 * In the order of their edits and warnings; one without edits may stand anywhere. autoscaler comes after all volumes,
 * nativeAnnotation is last: it asks whether anything else is changed.
 */
const concerns: readonly Concern[] = [
  names,
  native,
  command,
  install,
  options,
  drainHooks,
  proxyHooks,
  postStart,
  readiness,
  lateFiles,
  lastOf,
  autoscaler,
  outliving,
  orchestrator,
  nativeAnnotation,
];

/** Asks all concerns. */
export function planOf(facts: PodFacts, apps: readonly App[]): Plan {
  const edits: Edit[] = [];
  const problems: Note[] = [];
  const warnings: Note[] = [];
  for (const concern of concerns) {
    const plan = concern(facts, apps, edits);
    edits.push(...(plan.edits ?? []));
    problems.push(...(plan.problems ?? []));
    warnings.push(...(plan.warnings ?? []));
  }
  return { edits, problems, warnings };
}
