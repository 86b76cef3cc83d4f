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

const patience = 'A test waits for the thing itself, with `until`.';
const stopwatch = 'A test counts steps, queries or turns; it judges no time.';
const present = 'A test sets the clock, or takes the time of a SystemClock.';

/** What a test may not write: then it knows how fast the machine is, or what happened to run in between. */
export const timedSyntax = {
  'MemberExpression[object.name="performance"][property.name="now"]': stopwatch,
  'MemberExpression[object.name="process"][property.name=/^(cpuUsage|threadCpuUsage|resourceUsage|hrtime|uptime)$/]':
    stopwatch,
  'ImportSpecifier[imported.name=/^(monitorEventLoopDelay|PerformanceObserver|hrtime|cpuUsage)$/]':
    stopwatch,
  'ImportDeclaration[source.value=/until[.]ts$/] > ImportSpecifier[imported.name="within"]':
    stopwatch,
  'MemberExpression[object.name="Date"][property.name="now"]': present,
  'NewExpression[callee.name="Date"][arguments.length=0]': present,
  'CallExpression[callee.name=/^(setTimeout|setInterval)$/]': patience,
  'CallExpression[callee.object.name=/^(global|globalThis)$/][callee.property.name=/^(setTimeout|setInterval)$/]':
    patience,
  'MemberExpression[object.name="AbortSignal"][property.name="timeout"]': patience,
  // Without a limit it stands still for ever, as a stuck process does.
  'CallExpression[callee.object.name="Atomics"][callee.property.name="wait"][arguments.length=4]':
    patience,
  'ImportDeclaration[source.value=/^(node:)?timers/] > ImportSpecifier[imported.name!="setImmediate"]':
    patience,
  'ImportDeclaration[source.value=/^(node:)?timers/] > :matches(ImportDefaultSpecifier, ImportNamespaceSpecifier)':
    patience,
};

const plainLiteral = 'List the properties themselves: `{ ...{ a, b }, c }` is `{ a, b, c }`.';

/** @param forbidden message by selector */
const without = (forbidden) => ({
  create: (context) =>
    Object.fromEntries(
      Object.entries(forbidden).map(([selector, message]) => [
        selector,
        (node) => context.report({ node, message }),
      ]),
    ),
});

const lateLookup =
  'Look this up when the closure is made: after the start, a stop may have emptied the container.';

/** `c` and `container` are of use only to the function that was given them, never to a closure that it leaves behind. */
const lateLookups = {
  create: (context) => ({
    Identifier(node) {
      if (node.name !== 'c' && node.name !== 'container') return;
      const here = context.sourceCode.getScope(node);
      let scope = here;
      while (scope && !scope.set.has(node.name)) scope = scope.upper;
      if (!scope || scope.variableScope === here.variableScope) return;
      const isEnd = node.parent.property?.name === 'unbindAllAsync';
      if (!isEnd) context.report({ node, message: lateLookup });
    },
  }),
};

export default {
  meta: { name: 'local' },
  rules: {
    'explained-suppression': explainedSuppression,
    'pure-syntax': without(forbiddenSyntax),
    'timeless-syntax': without(timedSyntax),
    'late-lookups': lateLookups,
    'plain-literals': without({
      'ObjectExpression > SpreadElement > ObjectExpression': plainLiteral,
    }),
  },
};
