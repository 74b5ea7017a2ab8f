/** The screens of a kiosk are one page. */
export const csr = true;
