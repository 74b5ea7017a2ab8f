import { validationFailed } from '#lib/server/platform/errors.ts';

const KEY = /^[A-Za-z0-9_:.-]{1,255}$/;

/** Accepts a bare or a quoted key. @throws AppError `validation_failed` */
export function idempotencyKeyOf(sent: string | undefined): string | null {
	if (sent === undefined) return null;
	const key = /^"(.*)"$/.exec(sent)?.[1] ?? sent;
	if (KEY.test(key)) return key;
	throw validationFailed([
		{
			in: 'header',
			pointer: '/Idempotency-Key',
			code: 'invalid_format',
			detail: 'Use 1 to 255 letters, digits and the characters "_", "-", ":", ".".'
		}
	]);
}
