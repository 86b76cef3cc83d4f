import { createServer } from 'node:net';

// The child requests a listening socket from its parent in the next tick, and never takes it.
createServer().listen(0, '127.0.0.1');
process.nextTick(() => {
  process.send?.({ type: 'serving' });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
