/** The screens of a kiosk follow each other in one page. */
export const csr = true;
