export const refusal = new Error('the decision says no');

/** A decision that always throws. */
export const refuse = (): never => {
  throw refusal;
};
