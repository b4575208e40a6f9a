import { expect, test } from "bun:test";
import { execWords } from "../docs/hanging.ts";
import { within } from "../harness/time.ts";
import { startReady } from "./life.ts";
import { startPod } from "./pod.ts";
import type { Subject } from "./subject.ts";

/**
 * Declares the test that a program is ended by what the manual has `kubectl exec` run in its container. `program` stands
 * for the first word, which is a path in its image.
 */
export function execTest(subject: Subject, name: string, program: string): void {
  test(`${subject.title}: the manual's command in its container ends it`, async () => {
    await using pod = await startPod();
    const { container } = await startReady(subject, pod);
    const [, ...words] = execWords(name);
    // with process 1 of the container the kernel ends the command too, maybe before it has its answer
    const failure = await container.run(program, ...words).catch((error: Error) => error.message);
    const code = await within(20_000, container.ended);
    expect(code ?? failure).toBe(subject.exitCode);
  });
}
