// Prints the test results, with the last line as in ctest, which .ci/run counts; a failed test is marked with ***.
import type { TestEvent } from 'node:test/reporters';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0;
  let failed = 0;
  for await (const { type, data } of events) {
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details.type === 'suite' || data.file === undefined) continue;
    const name = `${data.file.replace(/^.*\/(.*)\.test\.ts$/, '$1')}: ${data.name}`;
    const seconds = (data.details.duration_ms / 1000).toFixed(2);
    if (type === 'test:pass' && data.skip === undefined && data.todo === undefined) {
      passed += 1;
      yield `      Test ${name} ... Passed ${seconds} sec\n`;
    } else {
      failed += 1;
      yield `      Test ${name} ...***Failed ${seconds} sec\n`;
      if (type === 'test:fail') yield `${data.details.error.stack ?? ''}\n${String(data.details.error.cause ?? '')}\n`;
    }
  }
  const total = passed + failed;
  yield `\n${Math.round((100 * passed) / Math.max(1, total))}% tests passed, ${failed} tests failed out of ${total}\n`;
}
