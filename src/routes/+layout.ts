/** Pages are HTML with one small script (lib/enhance). Those that hydrate, such as the kiosk, turn this on. */
export const csr = false;
