import { join } from "node:path";
import { nodeImage } from "./images.ts";
import { type Container, startContainer } from "./podman.ts";

/** Starts a stand-in for an Envoy, in a container that shares the network of `beside`. */
export function startSidecar(beside: Container): Container {
  const mounts = [`${join(import.meta.dirname, "../stand-in")}:/stand-in:ro`];
  return startContainer(nodeImage, ["node", "/stand-in/container-envoy.ts"], { beside, mounts });
}
