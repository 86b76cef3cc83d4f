'use strict';

// The health check of the image: ends with 0 if the service in this container answers.
const { get } = require('node:http');

const { HOST, PORT } = process.env;
const place = { host: !HOST || HOST === '0.0.0.0' ? '127.0.0.1' : HOST, port: PORT || 3000 };

get({ ...place, path: '/healthz', timeout: 2_000 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
})
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1));
