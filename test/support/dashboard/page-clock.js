// Runs in a page before its scripts. The page's time stands still until a test advances it.
(start) => {
  const timers = new Map();
  let now = start;
  let last = 0;
  const add = (act, ms, every) => {
    timers.set((last += 1), { act, at: now + ms, every });
    return last;
  };
  globalThis.Date = class extends Date {
    constructor(...parts) {
      super(...(parts.length > 0 ? parts : [now]));
    }
    static now() {
      return now;
    }
  };
  // The page uses these entries to compute its age, which must be zero.
  performance.getEntriesByType = () => [];
  globalThis.setTimeout = (act, ms = 0) => add(act, ms);
  globalThis.setInterval = (act, ms) => add(act, ms, ms);
  globalThis.clearTimeout = globalThis.clearInterval = (id) => timers.delete(id);
  globalThis.passTime = (ms) => {
    const end = now + ms;
    for (;;) {
      const [next] = [...timers].sort(([, one], [, other]) => one.at - other.at);
      if (!next || next[1].at > end) break;
      const [id, { act, at, every }] = next;
      now = at;
      if (every) timers.set(id, { act, at: at + every, every });
      else timers.delete(id);
      act();
    }
    now = end;
  };
};
