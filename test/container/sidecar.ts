import { join } from "node:path";
import { nodeImage } from "./images.ts";
import { type Container, startContainer } from "./podman.ts";

/** A stand-in for an Envoy, in a container beside the one whose network it is. */
export function startSidecar(beside: Container): Container {
  const mounts = [`${join(import.meta.dirname, "../stand-in")}:/stand-in:ro`];
  return startContainer(nodeImage, ["node", "/stand-in/container-envoy.ts"], { beside, mounts });
}
