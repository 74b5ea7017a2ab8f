/** Pages are HTML with one small script (lib/enhance). Hydrated pages, such as the kiosk, turn this on. */
export const csr = false;
