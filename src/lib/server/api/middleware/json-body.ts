import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { AppError } from '#lib/server/platform/errors.ts';
import { waitOutside } from '#lib/server/http/turns.ts';
import type { ApiContext, ApiEnv } from '../env.ts';
import { brokeOff, MAX_BODY_BYTES, tooLarge } from '#lib/server/http/read-body.ts';

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;.*)?$/i;

const limited = bodyLimit({
	maxSize: MAX_BODY_BYTES,
	onError() {
		throw tooLarge(MAX_BODY_BYTES);
	}
});

/**
 * Runs before the path and query checks.
 * @throws AppError `unsupported_media_type | body_too_large | invalid_json`
 */
export const jsonBody = createMiddleware<ApiEnv>(async (c, next) => {
	requireJsonType(c);
	const bytes = await waitOutside(readBytes(c));
	try {
		JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
	} catch {
		throw new AppError('invalid_json');
	}
	await next();
});

function requireJsonType({ req }: ApiContext): void {
	if (!JSON_TYPE.test(req.header('content-type') ?? '')) {
		throw new AppError('unsupported_media_type');
	}
	// The validator of @hono/zod-openapi knows fewer spellings.
	req.raw.headers.set('content-type', 'application/json');
	const encoding = req.header('content-encoding')?.trim() ?? '';
	if (!/^(identity)?$/i.test(encoding)) {
		throw new AppError(
			'unsupported_media_type',
			'Send the body uncompressed, without the header "Content-Encoding".'
		);
	}
}

async function readBytes(c: ApiContext): Promise<ArrayBuffer> {
	try {
		await limited(c, async () => undefined);
		return await c.req.arrayBuffer();
	} catch (error) {
		// Any other error means that the sender disconnected.
		throw error instanceof AppError ? error : brokeOff();
	}
}
