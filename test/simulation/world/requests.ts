import type { Container } from 'inversify';
import inject from 'light-my-request';
import type { Response } from '../../../src/adapters/http/listener/http-server.ts';
import { RequestHandlerKey } from '../../../src/app/keys.ts';
import { exactJson } from '../../support/http/exact-json.ts';

export interface Call {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  readonly path: string;
  readonly key?: string;
  /** Sent unchanged, as JSON unless `headers` say otherwise. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Integers are bigints. Undefined without a JSON body. */
  readonly body: unknown;
}

/** Calls the handler of a process's API or dashboard, without sockets and the listener. */
export const callApi = async (container: Container, call: Call): Promise<Answer> => {
  const { method = 'GET', path, key, body, headers, from = '192.0.2.1' } = call;
  const handle = container.get(RequestHandlerKey);
  const dispatch: inject.DispatchFunc = (request, response) => {
    // Node takes the date from the real clock.
    response.sendDate = false;
    void handle(request, response as Response);
  };
  const answer = await inject(dispatch, {
    method,
    url: path,
    authority: 'api.animal-store.test',
    remoteAddress: from,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: body }),
  });
  return read(answer);
};

const read = ({ statusCode, headers, payload: text }: inject.Response): Answer => {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value].flat()) all.append(name, String(one));
  }
  const isJson = /^application\/json\b/.test(all.get('Content-Type') ?? '');
  const body = isJson && text !== '' ? exactJson(text) : undefined;
  return { status: statusCode, headers: all, text, body };
};
