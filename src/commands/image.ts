import { beginLog } from "../begin-log.ts";
import { imageOptions as options } from "../cluster/image/core/registry-options.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { readOperandCall } from "../shared/cli/core/call.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";

/** `ebb image` prints what a registry says of an image. */
export const command: Command = {
  summary: "print what an image starts, according to its registry",
  usage: "image [flags] IMAGE",
  examples: [
    { call: "ebb image nginx:1.29", why: "ENTRYPOINT, CMD and STOPSIGNAL of an image on Docker Hub." },
    {
      call: "ebb image --ca-file ca.pem --json registry.example.com:5000/team/app@sha256:...",
      why: "For a script, from a registry with its own CA.",
    },
  ],
  exits: [
    ["0", "printed"],
    ["64", `${badCall[1]}, or not the name of an image`],
    ["69", "no registry answered with the image; stderr says why, and what to do"],
    ["128+n", "signal n ended it"],
  ],
  seeAlso: ["inject", "webhook"],
  options,
  main,
};

async function main({ args, env, signals }: Invocation): Promise<number> {
  const call = readOperandCall(options, { args, env });
  const [image, ...more] = [...call.operands, ...call.command];
  if (image === undefined || more.length > 0)
    throw new Failure(EXIT.usage, `image: expected the name of one image; usage: ebb ${command.usage}`);
  const log = beginLog(call.values, { env });
  const { showImage } = await import("../cluster/image/show-image.ts");
  return await showImage(image, call.values, { env, log, signals });
}
