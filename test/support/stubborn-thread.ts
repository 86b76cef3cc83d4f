import { answerTask } from '../../src/adapters/threads/answer-task.ts';
import { DomainError } from '../../src/kernel/decision.ts';
import { Unavailable } from '../../src/kernel/ports.ts';

export type StubbornTask =
  | 'answer'
  | 'crash'
  | 'exit'
  | 'fail'
  | 'hoard'
  | 'hoard buffers'
  | 'loop'
  | 'read secrets'
  | 'refuse'
  | 'tell'
  | 'trouble'
  | 'wait';

const hoard = (kept: unknown[]): never => {
  for (;;) kept.push(Array.from({ length: 1000 }, (_, at) => ({ at })));
};

const hoardBuffers = async (kept: unknown[]): Promise<never> => {
  for (;;) {
    kept.push(Buffer.alloc(1024 * 1024, 1));
    await new Promise(setImmediate);
  }
};

const loop = (): never => {
  for (;;);
};

/** Tasks that affect their thread. */
void answerTask<StubbornTask, unknown, string>(async (task, tell) => {
  const kept: unknown[] = [];
  switch (task) {
    case 'answer':
      return 'done';
    case 'crash':
      setImmediate(() => {
        throw new Error('from nowhere');
      });
      return new Promise(() => undefined);
    case 'exit':
      return process.exit(0);
    case 'fail':
      throw Object.assign(new TypeError('nobody foresaw this'), { uncopied: () => undefined });
    case 'hoard':
      return hoard(kept);
    case 'hoard buffers':
      return hoardBuffers(kept);
    case 'loop':
      return loop();
    case 'read secrets':
      return process.env['PATH'] ?? 'none';
    case 'refuse':
      throw new DomainError('archive_link', 'It is a link.');
    case 'tell':
      for (const news of ['one', 'two', 'three']) tell(news);
      return 'told';
    case 'trouble':
      throw new Unavailable('The storage', new Error('EIO'));
    case 'wait':
      return new Promise(() => undefined);
  }
});
