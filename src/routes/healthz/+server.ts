/** GET /healthz: the process responds. `npm run bench` uses it as an empty route, so it does nothing else. */
export const GET = () => Response.json({ alive: true });
