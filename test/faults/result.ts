/** How many promises were kept, and how many not. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
}

export function sum(results: readonly Result[]): Result {
  let passed = 0;
  let failed = 0;
  for (const result of results) {
    passed += result.passed;
    failed += result.failed;
  }
  return { passed, failed };
}
