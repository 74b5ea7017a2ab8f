/** For passkeys; everything else works without. */
export const csr = true;
