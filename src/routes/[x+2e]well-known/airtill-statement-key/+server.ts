import { formatStatementKeys } from '#lib/server/billing/signed-statement.ts';
import type { RequestHandler } from './$types';

/** The public keys (PEM) that check signed statements: `airtill statement verify`. */
export const GET: RequestHandler = ({ locals: { app } }) =>
	new Response(formatStatementKeys(app.secrets), {
		headers: { 'content-type': 'application/x-pem-file', 'cache-control': 'max-age=3600' }
	});
