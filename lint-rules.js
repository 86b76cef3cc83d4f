/** Rules of our own, as a plugin for oxlint; its selectors are ESLint's. */

const clock = 'The time comes in as `now`; a use case asks its Clock.';
const outside = 'What is outside comes in, as an argument or through a port.';

/** Every suppression says after ` -- ` why that is right. */
const explainedSuppression = {
  create: (context) => ({
    Program() {
      for (const { value, loc } of context.sourceCode.getAllComments()) {
        if (!/^\s*(es|ox)lint(-disable|\s)/.test(value) || /\s--\s+\S.{9}/s.test(value)) continue;
        // An empty place at the start of its line lies before the reach of the very comment that is reported.
        const start = { line: loc.start.line, column: 0 };
        const message = 'Say after " -- " why this suppression is right.';
        context.report({ loc: { start, end: start }, message });
      }
    },
  }),
};

/** What a rule of the business may not write, beside the names that `no-restricted-globals` forbids. */
export const forbiddenSyntax = {
  'NewExpression[callee.name="Date"][arguments.length=0]': clock,
  'CallExpression[callee.name="Date"]': clock,
  ImportExpression: outside,
};

const pureSyntax = {
  create: (context) =>
    Object.fromEntries(
      Object.entries(forbiddenSyntax).map(([selector, message]) => [
        selector,
        (node) => context.report({ node, message }),
      ]),
    ),
};

export default {
  meta: { name: 'local' },
  rules: { 'explained-suppression': explainedSuppression, 'pure-syntax': pureSyntax },
};
