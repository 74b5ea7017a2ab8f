/** GET /healthz: the process answers. Also what `npm run bench` takes for an empty route: it does nothing else. */
export const GET = () => Response.json({ alive: true });
