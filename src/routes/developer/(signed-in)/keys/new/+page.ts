/** For the copy button beside a new key. */
export const csr = true;
