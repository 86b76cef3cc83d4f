/** A moment that many files use. The files that run in one process share it, so nobody may change it. */
export const fixedTime = (text: string): Date =>
  Object.defineProperty(new Date(text), 'setTime', {
    value: () => {
      throw new Error(`${text} is shared by many tests: change a copy of it`);
    },
  });
