// The sentences of pages that run no script (`csr = false`): `s.owner_today()`. They are the same functions as in
// messages.js, but what is asked for by this name is not sent to any browser: the build puts nothing in its place
// there (src/language/plugin.ts), so that the many words of such pages do not weigh on a buyer's link.
import * as all from './generated/messages/_index.js';

export const s = all;
