import { app } from "./injection.ts";

/** Returns a pod whose annotation ebb.dev/inject has that value. */
export const asks = (wish: unknown) => ({
  metadata: { annotations: { "ebb.dev/inject": wish } },
  spec: { containers: [app()] },
});
