import { describeTarget, withPath } from "../../shared/core/address.ts";
import { errorTexts } from "../../shared/core/system-error.ts";
import { inboundDrain } from "../../shared/sidecars/core/inbound.ts";
import { isAnswer } from "./admin.ts";
import type { DrainEvent, DrainRequest } from "./core/drain.ts";
import { createCounter } from "./count.ts";
import { createScope, type DrainRequestOptions } from "./scope.ts";

const TRIES = 3;
const PAUSE_MS = 100;

/**
 * Creates a function that sends a request of one Envoy's drain, logs the answer, and resolves with
 * the event that the answer is. Starts to read the directions of the listeners with the first request, after sending
 * it, if the drain path depends on them.
 */
export function drainRequests(options: DrainRequestOptions): (request: DrainRequest) => Promise<DrainEvent> {
  const scope = createScope(options);
  const count = createCounter(options, scope);
  const isAlwaysInbound = options.envoy.drainPath === inboundDrain;
  return async (request) => {
    if (request === "fail-health") {
      const failed = command(options, request, "/healthcheck/fail");
      if (!isAlwaysInbound) scope().catch(() => undefined); // the request that needs it gets the error
      return await failed;
    }
    if (request === "count") return await count();
    return await command(options, request, isAlwaysInbound ? inboundDrain : (await scope()).path);
  };
}

const messages = {
  "fail-health": {
    done: "made Envoy's health checks fail: it still accepts connections",
    failed: "cannot make Envoy's health checks fail",
  },
  "drain-listeners": { done: "draining the listeners", failed: "cannot drain the listeners" },
} as const;

/** Sends a POST, up to 3 times (`TRIES`) while it fails, because a repeated one has the same effect. */
async function command(
  { sidecar, envoy, admin, log }: DrainRequestOptions,
  request: "fail-health" | "drain-listeners",
  path: string,
): Promise<DrainEvent> {
  const { done, failed } = messages[request];
  const fields = { sidecar, request: `POST ${describeTarget(withPath(envoy.admin, path))}` };
  const end = performance.now() + admin.limitMs;
  for (let tries = 1; ; tries += 1) {
    const outcome = await admin.post(path);
    if (isAnswer(outcome)) {
      log.info(fields, done);
      return { kind: "done", request };
    }
    const isRefused = outcome.isRefused && tries === 1;
    const isLast = isRefused || tries === TRIES || performance.now() >= end;
    const reason = explained(outcome.reason, path);
    // if the connection is refused, the drain's outcome says whether Envoy has gone or was never there
    log[isLast && !outcome.isRefused ? "warn" : "debug"]({ ...fields, reason }, failed);
    if (isLast) return { kind: "failed", request, isRefused };
    await Bun.sleep(PAUSE_MS);
  }
}

function explained(reason: string, path: string): string {
  if (reason === errorTexts.ETIMEDOUT) return `${reason}: it may still do it`;
  if (!reason.startsWith("HTTP 403")) return reason;
  return `${reason}: Envoy's admin interface does not allow this path (admin.allow_paths); allow ${path.split("?")[0]}`;
}
