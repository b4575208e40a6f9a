import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Image } from "./images.ts";

/** Gives images to a node: `command` (words, then the path of an archive) is run for each that no node says it has. */
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

/** A node names up to 50 of its images, the largest first (kubelet, nodeStatusMaxImages). */
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
