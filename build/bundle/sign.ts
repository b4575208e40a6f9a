import { createHash } from "node:crypto";

// Mach-O: mach-o/loader.h. Its signature, whose numbers are big-endian: cs_blobs.h of XNU.
const FIRST_COMMAND = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const PAGE = 4096;
const DIRECTORY_AT = 20;
const HEADER = 88;
const NAME = "ebb\0";

/**
 * Signs an executable for macOS ad hoc, in the place of the signature that is in it. Bun signs those for arm64 alone, and
 * leaves in those for x64 the one of its own file, which macOS may kill them for.
 * @throws Error if there is no room for it
 */
export function signAdHoc(bytes: Buffer): void {
  const { at, room, textSize } = placesIn(bytes);
  const pages = Math.ceil(at / PAGE);
  const length = HEADER + NAME.length + 32 * pages;
  if (at === 0 || DIRECTORY_AT + length > room)
    throw new Error(`no room for a signature of ${pages} pages: ${room} bytes`);
  const superBlob = [0xfade0cc0, DIRECTORY_AT + length, 1, 0, DIRECTORY_AT];
  // version 2.4, ad hoc and linker-signed, offsets of hashes and name, no special hashes; SHA-256 of 32 bytes, pages of 2^12
  const directory = [0xfade0c02, length, 0x20400, 0x20002, HEADER + NAME.length, HEADER, 0, pages, at, 0x2002000c];
  // none of the optional parts; then base and size of __TEXT, and that this is a main executable
  const segment = [0, 0, 0, 0, 0, 0, 0, 0, 0, textSize, 0, 1];
  const signature = Buffer.alloc(room);
  for (const [index, word] of [...superBlob, ...directory, ...segment].entries())
    signature.writeUInt32BE(word, 4 * index);
  signature.write(NAME, DIRECTORY_AT + HEADER);
  for (let page = 0; page < pages; page++) {
    const hashed = bytes.subarray(page * PAGE, Math.min((page + 1) * PAGE, at));
    createHash("sha256")
      .update(hashed)
      .digest()
      .copy(signature, DIRECTORY_AT + HEADER + NAME.length + 32 * page);
  }
  signature.copy(bytes, at);
}

/** Finds the signature, and the size of the first segment with content, which is __TEXT. */
function placesIn(bytes: Buffer): { readonly at: number; readonly room: number; readonly textSize: number } {
  const places = { at: 0, room: 0, textSize: 0 };
  let command = FIRST_COMMAND;
  for (let left = bytes.readUInt32LE(16); left > 0; left--) {
    const kind = bytes.readUInt32LE(command);
    if (kind === LC_SEGMENT_64) places.textSize ||= bytes.readUInt32LE(command + 48);
    if (kind === LC_CODE_SIGNATURE) {
      places.at = bytes.readUInt32LE(command + 8);
      places.room = bytes.readUInt32LE(command + 12);
    }
    command += bytes.readUInt32LE(command + 4);
  }
  return places;
}
