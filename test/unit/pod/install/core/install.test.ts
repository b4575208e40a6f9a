import { expect, test } from "bun:test";
import { explainInstallError } from "../../../../../src/pod/install/core/install.ts";

const obstacle = {
  message: "EIO: i/o error, write",
  dest: "/shared/ebb",
  folder: "/shared",
  neededBytes: 105_000_112,
  freeBytes: 2_500_000,
  uid: 65532,
};

test.each([
  ["ENOENT", "there is no folder /shared; mount the volume there, or name a folder that exists"],
  ["ENOTDIR", "/shared is not a folder"],
  ["EROFS", "the volume is read-only; mount it without readOnly in the container that installs"],
  ["ENOSPC", "the volume is full: a copy takes 106 MB, 2 MB are free"],
  ["EDQUOT", "the volume is full: a copy takes 106 MB, 2 MB are free"],
  ["EACCES", "user 65532 may not write to /shared; set fsGroup in the pod's securityContext, or another user"],
  ["EPERM", "user 65532 may not write to /shared; set fsGroup in the pod's securityContext, or another user"],
  ["EIO", "EIO: i/o error, write"],
  [undefined, "EIO: i/o error, write"],
])("%p is explained in one sentence", (code, sentence) => {
  expect(explainInstallError({ ...obstacle, code })).toBe(`/shared/ebb: ${sentence}`);
});

test("a volume that has room, but not for one more file, is told apart", () => {
  expect(explainInstallError({ ...obstacle, code: "ENOSPC", freeBytes: 200_000_000 })).toEndWith(
    "200 MB are free, but no more files, or no more for this user",
  );
});

test("a full volume's message names no free space that nobody knows", () => {
  expect(explainInstallError({ ...obstacle, code: "ENOSPC", freeBytes: undefined })).toEndWith("a copy takes 106 MB");
});
