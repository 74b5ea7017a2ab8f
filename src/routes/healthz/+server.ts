/** GET /healthz: the process answers. */
export const GET = () => new Response('ok\n');
