/** For the copy button beside a new secret. */
export const csr = true;
