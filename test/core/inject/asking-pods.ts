import { app } from "./injection.ts";

export const asks = (wish: unknown) => ({
  metadata: { annotations: { "ebb.dev/inject": wish } },
  spec: { containers: [app()] },
});
