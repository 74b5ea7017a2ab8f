/** Swagger UI needs its script. */
export const csr = true;
