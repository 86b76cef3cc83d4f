/** Bruno's own reader and writer of its files, as far as this project uses it. */
declare module '@usebruno/lang' {
  const bruno: {
    readonly jsonToBruV2: (request: object) => string;
    readonly bruToJsonV2: (text: string) => unknown;
    readonly jsonToCollectionBru: (collection: object) => string;
    readonly collectionBruToJson: (text: string) => unknown;
    readonly envJsonToBruV2: (environment: object) => string;
    readonly bruToEnvJsonV2: (text: string) => unknown;
  };
  export default bruno;
}
