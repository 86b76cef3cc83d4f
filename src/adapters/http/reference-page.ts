import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Route } from './routing.ts';

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Animal Store API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/reference.css">
  </head>
  <body>
    <div id="reference"></div>
    <noscript><p>This page needs JavaScript. The same as a document: <a href="/v1/openapi.json">openapi.json</a>.</p></noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/reference.js"></script>
  </body>
</html>
`;

/** Swagger UI knows "try it out" per verb only; this plugin asks the operation's own extension. */
const script = `const hasTryIt = (operation) =>
  !(operation && (operation.get('x-hideTryItPanel') === true || operation.get('x-explorer-enabled') === false));

const hideTryItWhereAsked = () => ({
  statePlugins: {
    spec: {
      wrapSelectors: {
        allowTryItOutFor: (_original, system) => (_state, path, method) =>
          hasTryIt(system.specSelectors.specJson().getIn(['paths', path, method])),
      },
    },
  },
});

SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  showExtensions: true,
  displayRequestDuration: true,
  validatorUrl: null,
  plugins: [hideTryItWhereAsked],
});
`;

const style = `:root { color-scheme: light dark; }
body { margin: 0; background: #fff; }
@media (max-width: 40rem) { .swagger-ui .wrapper { padding: 0 .75rem; } }
@media (prefers-color-scheme: dark) {
  body { background: #16181d; }
  #reference { color-scheme: light; filter: invert(.9) hue-rotate(180deg); }
}
`;

/** Try-it asks the servers that the document names. */
const policyFor = (servers: readonly string[]) =>
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  `connect-src ${["'self'", ...servers].join(' ')}; ` +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The API reference at /docs: Swagger UI from our own package folder, nothing from another host. */
export const referencePage = (servers: readonly string[]): readonly Route[] => {
  const policy = policyFor(servers);
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const asset = (name: string) => readFileSync(join(folder, name), 'utf8');
  return [
    file(policy, '/docs', 'text/html', page),
    file(policy, '/docs/reference.js', 'text/javascript', script),
    file(policy, '/docs/reference.css', 'text/css', style),
    file(policy, '/docs/swagger-ui.css', 'text/css', asset('swagger-ui.css')),
    file(policy, '/docs/swagger-ui-bundle.js', 'text/javascript', asset('swagger-ui-bundle.js')),
  ];
};

const file = (policy: string, path: string, type: string, text: string): Route => {
  const zipped = gzipSync(text);
  return {
    method: 'GET',
    path,
    answer: (ctx) => {
      ctx.set('Content-Security-Policy', policy);
      ctx.set('Cache-Control', 'public, max-age=3600');
      ctx.set('X-Content-Type-Options', 'nosniff');
      ctx.vary('Accept-Encoding');
      ctx.type = `${type}; charset=utf-8`;
      if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
        ctx.set('Content-Encoding', 'gzip');
        ctx.body = zipped;
      } else {
        ctx.body = text;
      }
    },
  };
};
