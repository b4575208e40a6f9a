import type { Environment } from "../shared/core/environment.ts";

const started: Environment = { ...process.env };

// as native/before-bun.c has them; Bun's fetch would ask a forward proxy even for this machine
const changesBun = /^((BUN|JSC|MIMALLOC)_|NODE_(?!EXTRA_CA_CERTS$)|(https?|all|no)_proxy$|(HTTPS?|ALL|NO)_PROXY$)/;
for (const name of Object.keys(started)) if (changesBun.test(name)) delete process.env[name];

/** Returns the environment that ebb was started with. Stands in a desk build in the place of that of cluster/api. */
export function startingEnvironment(): Environment {
  return started;
}
