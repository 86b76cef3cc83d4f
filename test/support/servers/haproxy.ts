import { findServer } from './debian-server.ts';

/** Debian's packages of HAProxy, with the libraries that no system has by itself. */
export const findHaproxy = () =>
  findServer('haproxy', [
    'haproxy',
    'liblua5.3-0',
    'libopentracing-c-wrapper0|libopentracing-c-wrapper0t64',
    'libopentracing1|libopentracing1t64',
    'libpcre2-8-0',
  ]);
