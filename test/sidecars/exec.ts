import { expect, test } from "bun:test";
import { execWords } from "../docs/hanging.ts";
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
    await container.run(program, ...words);
    expect(await container.ended).toBe(subject.exitCode);
  });
}
