import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface Exchange {
  readonly port: number;
  readonly ca: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const agent = new Agent({ keepAlive: true });

/** One request to an HTTPS server on 127.0.0.1, over a connection that is open already if there is one. */
export const exchange = ({ port, ca, body, ...rest }: Exchange): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, ca, agent, ...rest }, (answer) => {
      const { statusCode = 0, headers } = answer;
      buffer(answer).then((all) => resolve({ status: statusCode, headers, body: all }), reject);
    })
      .on('error', reject)
      .end(body);
  });
