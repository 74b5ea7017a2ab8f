/** For passkeys; e-mail and password work without. */
export const csr = true;
