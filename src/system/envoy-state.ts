import type { HttpTarget } from "../core/address.ts";
import { type AdminAnswers, adminPaths } from "../core/envoy-status.ts";
import { connectAdmin, isAnswer } from "./envoy-admin.ts";
import { fromUtf8 } from "./latin1.ts";

/** Asks an Envoy's admin interface for all of `adminPaths` at the same time. Bounded; never rejects. */
export async function askEnvoy(target: HttpTarget): Promise<AdminAnswers> {
  using admin = connectAdmin(target, new AbortController().signal);
  const ask = async (path: string) => {
    const outcome = await admin.get(path);
    return isAnswer(outcome) ? { text: fromUtf8(outcome.body) } : { problem: outcome.reason };
  };
  return await Promise.all(adminPaths().map(ask));
}
