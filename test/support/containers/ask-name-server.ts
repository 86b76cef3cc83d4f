/** The zone of DNS challenges of machines in tests. */
export const challengeZone = 'acme.shop.example';

/** A command that prints the name server that port 53 of this machine names for the zone, if it answers. */
export const askNameServer = (node: string): string => {
  const ask = `const { Resolver } = require('node:dns/promises');
const resolver = new Resolver({ timeout: 2000, tries: 2 });
resolver.setServers(['127.0.0.1']);
resolver.resolveSoa('${challengeZone}').then(({ nsname }) => console.log(nsname));`;
  return `${node} --eval "${ask}"`;
};

export const nameServer = 'acme-ns.shop.example\n';
