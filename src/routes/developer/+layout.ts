/** Plain forms; only pages that offer passkeys or a copy button run script. */
export const csr = false;
