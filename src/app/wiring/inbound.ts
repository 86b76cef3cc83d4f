import { pages } from './dashboard.ts';
import { edge } from './edge.ts';
import { nameServer } from './nameserver.ts';
import { web } from './web.ts';

export const inbound = [web, pages, edge, nameServer];
