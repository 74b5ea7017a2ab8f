/** Text only: no script is needed. */
export const csr = false;
