import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Image } from "./images.ts";

/**
 * Gives images to a node: runs `command`, with the path of an archive behind its words, for each that no node names.
 */
export async function loadImages(images: readonly Image[], command: readonly string[]): Promise<void> {
  const there = await imagesOfNodes();
  const folder = mkdtempSync(join(tmpdir(), "ebb-images-"));
  try {
    for (const { reference, archive } of images.filter((image) => !there.includes(image.reference))) {
      const path = join(folder, "image.tar");
      writeFileSync(path, archive());
      await run([...command, path], reference);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the names of the nodes' images. A node names the 50 largest (kubelet, nodeStatusMaxImages). */
async function imagesOfNodes(): Promise<readonly string[]> {
  const path = "jsonpath={.items[*].status.images[*].names[*]}";
  return (await run(["kubectl", "get", "nodes", "-o", path], "images")).split(" ");
}

async function run(command: readonly string[], what: string): Promise<string> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${what}: ${command.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}
