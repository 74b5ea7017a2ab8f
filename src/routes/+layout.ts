/** Pages are HTML with one small script (lib/enhance). A hydrated page, such as the API console, turns this on. */
export const csr = false;
