import type { RequestHandler } from './$types';

/** GET /readyz: 200 when the database accepts reads and writes, 503 when this process stops or cannot serve. */
export const GET: RequestHandler = async ({ locals }) => {
	if (locals.app.isDraining) {
		return Response.json({ ready: false, reason: 'The process is stopping.' }, { status: 503 });
	}
	try {
		await locals.app.database.ping();
		return Response.json({ ready: true });
	} catch (error) {
		locals.app.log.warn({ err: error }, 'not ready');
		return Response.json(
			{ ready: false, reason: 'The database does not answer, or does not store anything.' },
			{ status: 503 }
		);
	}
};
