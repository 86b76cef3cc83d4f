import { requestBeginning, requestName, tellAnswer } from '../../kernel/traced-request.ts';
import type { Tracer } from '../../kernel/tracer.ts';
import type { EdgeRequest, EdgeResponse } from './edge-answer.ts';

export type EdgeHandler = (request: EdgeRequest, response: EdgeResponse) => void;

/** Begins a trace with each request, or continues its visitor's, until its answer has been sent or given up. */
export const tracedVisits =
  (tracer: Tracer, scheme: 'http' | 'https', handle: EdgeHandler): EdgeHandler =>
  (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const name = requestName(request, 'site');
    void tracer.begin({ name, ...requestBeginning(request, scheme, path) }, async (span) => {
      const closed = Promise.withResolvers<undefined>();
      response.once('close', () => {
        closed.resolve(undefined);
      });
      handle(request, response);
      await closed.promise;
      tellAnswer(span, response.statusCode, !response.writableFinished);
    });
  };
