import { whyNotReady } from "../../../shared/io/file.ts";
import { nameOf, type Probe, withIp } from "../../../shared/sidecars/core/probe.ts";
import { cancelNothing, notReady, type Prober, ready } from "../prober.ts";
import { proberOfAny } from "./any.ts";
import { proberOfName } from "./name.ts";
import { askForConnection, askGrpc, askHttp, proberAt } from "./server.ts";

/** Creates a prober that makes attempts of the probe, one each time that `attempt` is called. */
export function proberOf(probe: Probe): Prober {
  const name = nameOf(probe);
  if (name !== undefined) return proberOfName(name, (ip) => proberOf(withIp(probe, ip)));
  switch (probe.kind) {
    case "http":
      return proberAt(probe.target.address, (counts) => askHttp(probe, counts));
    case "grpc":
      return proberAt(probe.target.address, (counts) => askGrpc(probe, counts));
    case "connect":
      return proberAt(probe.address, (counts) => askForConnection(probe, counts));
    case "file":
      return proberOfFile(probe);
    case "any":
      return proberOfAny(probe.probes.map(proberOf));
  }
}

function proberOfFile({ path, isNotEmpty }: Extract<Probe, { kind: "file" }>): Prober {
  return {
    attempt(done) {
      const reason = whyNotReady(path, isNotEmpty === true);
      done(reason === undefined ? ready : notReady(reason));
      return cancelNothing;
    },
  };
}
