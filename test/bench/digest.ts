import { ebbPath } from "../harness.ts";

/** Resolves with the first digits of the SHA-256 of the executable, by which figures that add up know it. */
export async function digestOfEbb(): Promise<string> {
  const bytes = await Bun.file(ebbPath).bytes();
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16);
}
