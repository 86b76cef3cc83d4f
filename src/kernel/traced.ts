import type { Span, Step, Tracer } from './tracer.ts';

/** What a trace says of one call of a port. */
interface TracedCall<Answer> extends Step {
  /** Adds what is known only afterwards. */
  readonly answered?: (span: Span, answer: Answer) => void;
}

/** Describes the calls of a port that are steps, by the names of its methods. */
export type TracedCalls<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => TracedCall<Answer>
    : never;
};

type Method = (...args: unknown[]) => Promise<unknown>;
type Describe = (...args: unknown[]) => TracedCall<unknown>;

/** The same port; each call that is described is a step of what is running. */
export const traced = <Port extends object>(
  port: Port,
  tracer: Tracer,
  calls: TracedCalls<Port>,
): Port =>
  new Proxy(port, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as Method;
      const describe = (calls as Record<PropertyKey, Describe | undefined>)[name];
      return describe ? tracedMethod(method, tracer, describe) : method;
    },
  });

const tracedMethod =
  (method: Method, tracer: Tracer, describe: Describe): Method =>
  (...args) => {
    const { answered, ...step } = describe(...args);
    return tracer.step(step, async (span) => {
      const answer = await method(...args);
      answered?.(span, answer);
      return answer;
    });
  };
