/**
 * Redacts paths for the request log. API paths consist of words and short numbers. Any other segment may be a
 * misplaced key, password or phone number, so it becomes an ellipsis. A deny list would miss unexpected secrets.
 */

const MAX_LENGTH = 200;
const LEFT_OUT = '…';

/** For example `mobile-money`: short and without digits, unlike a secret. */
const WORD = /^(v1|[A-Za-z_.-]{1,20})$/;
/** The form of Wi-Fi passwords, which may consist of letters only. */
const PASSWORD = /^[a-z]{4}-[a-z]{4}-[a-z]{4}$/;
/** Too short for a phone number. */
const SMALL_NUMBER = /^\d{1,6}$/;
const NUMBER = /^\d{1,15}$/;
/** Enough to distinguish two numbers in a list. */
const LAST_DIGITS = 3;

/**
 * @param pathname path of the request's URL, still percent-encoded
 * @param status of the answer: after a success a number is an id
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
