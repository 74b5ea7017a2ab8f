/**
 * The path of a call as its log shows it. Paths of the API are words and numbers; anything else that a caller wrote
 * into one may be a key, a password or a phone number in the wrong place, so only what is certainly harmless stays
 * and the rest becomes an ellipsis. (Taking out what looks like a secret would miss the one nobody thought of.)
 */

const MAX_LENGTH = 200;
const LEFT_OUT = '…';

/** A word of a path, such as `mobile-money` or `__data.json`: without digits and short, unlike secrets. */
const WORD = /^(v1|[A-Za-z_.-]{1,20})$/;
/** A Wi-Fi password can be all letters, but then it has this shape. */
const PASSWORD = /^[a-z]{4}-[a-z]{4}-[a-z]{4}$/;
/** A number too short for a phone number. */
const SMALL_NUMBER = /^\d{1,6}$/;
const NUMBER = /^\d{1,15}$/;
/** As much of a number as tells two of them apart in a list. */
const LAST_DIGITS = 3;

/**
 * @param pathname path of the request's URL, still percent-encoded
 * @param status of the answer: a number is certainly the id of something where there was such a thing
 */
export function loggedPath(pathname: string, status: number): string {
	const segments = pathname
		.slice(0, MAX_LENGTH)
		.split('/')
		.filter(Boolean)
		.map((segment) => shown(segment, status));
	return `/${segments.join('/')}`;
}

function shown(segment: string, status: number): string {
	if (WORD.test(segment) && !PASSWORD.test(segment)) return segment;
	if (SMALL_NUMBER.test(segment)) return segment;
	if (!NUMBER.test(segment)) return LEFT_OUT;
	return status < 400 ? segment : LEFT_OUT + segment.slice(-LAST_DIGITS);
}
