import { EXIT, Failure } from "../../../shared/core/exit.ts";
import { formatHostPort } from "../../../shared/core/host-port.ts";
import { describeSystemError } from "../../../shared/core/system-error.ts";

/** The address on which a server listens: all addresses if `host` is undefined, any free port if `port` is 0. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** Returns the Failure(71) that says why a server cannot listen where its flag says. */
export function bindFailure(flag: string, { host, port }: ListenAddress, error: unknown): Failure {
  const address = formatHostPort(host ?? "", port);
  return new Failure(EXIT.system, `--${flag}: cannot bind ${address}: ${describeSystemError(error)}`);
}
