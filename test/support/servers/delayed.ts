/** Forwards bytes with a delay, in order even when the delay changes. */
export const delayed = (
  delayMs: () => number,
  pass: (bytes: Buffer) => void,
): ((bytes: Buffer) => void) => {
  const waiting: Buffer[] = [];
  const passFirst = () => {
    const bytes = waiting.shift();
    if (bytes) pass(bytes);
  };
  return (bytes) => {
    waiting.push(bytes);
    if (waiting.length === 1 && delayMs() === 0) passFirst();
    // Does not keep a process: its sockets do, while they are open.
    else setTimeout(passFirst, delayMs()).unref();
  };
};
