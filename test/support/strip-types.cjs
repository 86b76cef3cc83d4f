const { stripTypeScriptTypes } = require('node:module');

/** Jest runs TypeScript as Node does: types are blanked out, so lines and columns stay. */
module.exports = { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
