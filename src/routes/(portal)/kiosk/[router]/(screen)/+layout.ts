/** The kiosk's screens are one page. */
export const csr = true;
