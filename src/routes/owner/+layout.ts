/** Plain forms and pages: they work on every phone, and their many words weigh on nobody else's link. */
export const csr = false;
