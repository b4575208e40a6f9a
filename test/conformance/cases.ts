import type { Case } from "./case.ts";
import { preflightCases } from "./cases/envoy-preflight.ts";
import { linkerdCases } from "./cases/linkerd-await.ts";
import { pilotCases } from "./cases/pilot-agent.ts";
import { scuttleCases } from "./cases/scuttle.ts";
import { valetCases } from "./cases/valet.ts";
import { wrapperCases } from "./cases/wrappers.ts";

/** All cases: on what users of these tools may rely. */
export const cases: readonly Case[] = [
  ...wrapperCases,
  ...scuttleCases,
  ...preflightCases,
  ...linkerdCases,
  ...valetCases,
  ...pilotCases,
];
