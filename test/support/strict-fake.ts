/** A port that must not be used: any use fails the test. */
export const mustNotBeUsed = <Port extends object>(name: string): Port =>
  new Proxy({} as Port, {
    get: (_, property) => {
      throw new Error(`${name}.${String(property)} was not to be used`);
    },
  });
