import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import type { Range } from "../shrink/range.ts";
import { toolAssets } from "../shrink/tool-assets.ts";

type Asset = Range & {
  /** The first 16 hexadecimal digits of the SHA-256 of its compressed bytes. */
  readonly digest: string;
  /** The first 60 bytes of its content, as Latin-1. */
  readonly text: string;
};

type Assets = {
  /** Assets of Bun's developer tools, listed in tool-assets.ts: a program that only runs never opens them. */
  readonly dead: readonly Asset[];
  /** Assets that tool-assets.ts does not list yet, so they stay. */
  readonly unknown: readonly Asset[];
};

/**
 * Finds the Zstandard frames (RFC 8878, section 3.1.1) in a part of a file. Bun keeps in such frames, one behind the
 * other, what only its developer tools read.
 */
export function findAssets(bytes: Uint8Array, { from, to }: Range): Assets {
  const part = Buffer.from(bytes.buffer, bytes.byteOffset, to);
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
  const found: Asset[] = [];
  for (let at = part.indexOf(magic, from); at >= 0; at = part.indexOf(magic, at + 1)) {
    const asset = readAsset(part, at);
    if (asset !== undefined) found.push(asset);
  }
  return {
    dead: found.filter(({ digest }) => toolAssets.has(digest)),
    unknown: found.filter(({ digest }) => !toolAssets.has(digest)),
  };
}

/** Returns undefined if the four bytes at `from` begin something else: only what can be decompressed is a frame. */
function readAsset(part: Buffer, from: number): Asset | undefined {
  const to = frameEnd(part, from);
  if (to === undefined) return undefined;
  const frame = part.subarray(from, to);
  try {
    const text = zstdDecompressSync(frame).toString("latin1", 0, 60);
    return { from, to, digest: createHash("sha256").update(frame).digest("hex").slice(0, 16), text };
  } catch {
    return undefined;
  }
}

function frameEnd(part: Buffer, from: number): number | undefined {
  const descriptor = part[from + 4] ?? 0;
  const isSingleSegment = (descriptor >> 5) & 1;
  const checksum = ((descriptor >> 2) & 1) * 4;
  const dictionary = [0, 1, 2, 4][descriptor & 3] as number;
  const contentSize = [isSingleSegment, 2, 4, 8][descriptor >> 6] as number;
  let at = from + 5 + (1 - isSingleSegment) + dictionary + contentSize;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > part.length) return undefined;
    const block = part.readUIntLE(at, 3);
    const type = (block >> 1) & 3;
    if (type === 3) return undefined;
    isLast = (block & 1) === 1;
    at += 3 + (type === 1 ? 1 : block >> 3);
  }
  return at + checksum <= part.length ? at + checksum : undefined;
}
