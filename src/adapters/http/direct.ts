import { send } from './answers/send.ts';
import type { Answer } from './answers/answer.ts';
import type { Framing } from './framing.ts';
import type { Handler, Response } from './listener/http-server.ts';
import type { Exchange } from './operations/exchange.ts';
import { requestTarget } from './operations/request-target.ts';
import type { FindRoute, Found } from './operations/routing.ts';

/**
 * Answers operations in front of Koa, with one `writeHead` each: Koa alone costs a request more than all of its steps.
 * @param before runs before each operation
 * @param otherwise answers everything else
 */
export const direct = (
  framing: Framing,
  find: FindRoute,
  before: (exchange: Exchange) => Promise<void>,
  otherwise: Handler,
): Handler => {
  const answerTo = async (exchange: Exchange, { answer, parameters }: Found): Promise<Answer> => {
    await before(exchange);
    return answer(exchange, parameters);
  };
  const respond = async (exchange: Exchange, found: Found, response: Response): Promise<number> => {
    let answer: Answer;
    try {
      answer = await answerTo(exchange, found);
      send(response, exchange.headers, answer);
    } catch (error) {
      answer = framing.refuse(exchange, error);
      send(response, exchange.headers, answer);
    }
    return answer.status;
  };
  return async (request, response) => {
    const target = requestTarget(request.url ?? '');
    const found = find(request.method ?? '', target.path);
    if (!found) {
      await otherwise(request, response);
      return;
    }
    const exchange = framing.begin(request, target);
    response.requestId = exchange.requestId;
    response.route = found.path;
    // Not even the refusal could be sent.
    const status = await respond(exchange, found, response).catch(() => {
      response.destroy();
      return 500;
    });
    framing.end(exchange, status);
  };
};
