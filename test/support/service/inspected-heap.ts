import { once } from 'node:events';
import { until } from '../until.ts';

/** The address of the inspector of a process that was started with `--inspect`. */
const inspectorOf = (port: string): Promise<string> =>
  until('the inspector listens', async () => {
    const asked = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    const [first] = ((await asked?.json()) ?? []) as { readonly webSocketDebuggerUrl: string }[];
    return first?.webSocketDebuggerUrl;
  });

interface Told {
  readonly id?: number;
  readonly result?: { readonly usedSize?: number };
}

/** Runs the garbage collector of that process. @returns MiB of live heap afterwards */
export const livingHeapOf = async (port: string): Promise<number> => {
  const socket = new WebSocket(await inspectorOf(port));
  await once(socket, 'open');
  const ask = async (id: number, method: string): Promise<Told> => {
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [event] = (await once(socket, 'message')) as [{ readonly data: string }];
      const told = JSON.parse(event.data) as Told;
      if (told.id === id) return told;
    }
  };
  try {
    // Twice: the second run collects what finalizers released.
    await ask(1, 'HeapProfiler.collectGarbage');
    await ask(2, 'HeapProfiler.collectGarbage');
    const { result } = await ask(3, 'Runtime.getHeapUsage');
    return (result?.usedSize ?? NaN) / 1024 / 1024;
  } finally {
    socket.close();
  }
};
