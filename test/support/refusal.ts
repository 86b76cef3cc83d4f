export const refusal = new Error('the decision says no');

export const refuse = (): never => {
  throw refusal;
};
