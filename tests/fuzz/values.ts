import fc from 'fast-check';

/** Parts of wild requests: good values of every field and parameter, and bad ones for any. */

/** A session, payment, router or something else of the caller, of somebody else, or a value without one. */
export type Placeholder =
	| `${'own' | 'foreign'}${'Session' | 'Payment' | 'Router'}`
	| `own${'Offer' | 'Batch' | 'Voucher'}`
	| 'mobile'
	| 'amount';

/** One of several, each as often as the number before it says. */
export const weighted = <T extends unknown[]>(
	...choices: { [N in keyof T]: readonly [number, fc.Arbitrary<T[N]>] }
): fc.Arbitrary<T[number]> => fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

export const placeholder = (...names: Placeholder[]) => fc.constantFrom(...names.map((name) => `{${name}}`));

/** Texts that have broken parsers, databases and logs before. */
export const nastyText = fc.oneof(
	fc.constantFrom(
		...['', ' ', '\0', 'a\0b', '\n', '\u202e', '\ufeff', '\ud800', '2h ', "' or 1=1 --"],
		...['"; drop table sessions; --', '[object Object]', '<script>', '${7*7}', '../../etc/passwd'],
		...['http://127.0.0.1/', '0772 123 456', 'a'.repeat(3000)],
		...'٣ 1e3 +1 0x10 1_000 -0 .5 5. NaN Infinity null undefined true [] {} %00 % %zz'.split(' '),
		...'__proto__ constructor 9007199254740993 9223372036854775808 99999999999999999999'.split(' '),
		...'2147483648 1h 0h 1H 99999w P1D 15m １h mobile_money payment.success daily 2026-02-30'.split(' '),
		...['2026-11-21', '0000-00-00', '4294967296', '+256772123456']
	),
	fc.string({ unit: 'binary', maxLength: 40 }),
	fc.string({ unit: 'grapheme', maxLength: 40 })
);

const nastyNumber = fc.oneof(
	fc.constantFrom(0, -0, -1, 1, 0.1, 1e-9, 1e21, 1e308, -(2 ** 63)),
	fc.constantFrom(...[31, 53, 63, 64].map((power) => 2 ** power), 2 ** 53 + 2),
	fc.integer(),
	fc.double({ noNaN: true, noDefaultInfinity: true })
);

/** JSON text of anything; some of it no serialiser would write. */
export const nastyJson: fc.Arbitrary<string> = fc.oneof(
	fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
	nastyText.map((text) => JSON.stringify(text)),
	nastyNumber.map((number) => JSON.stringify(number)),
	fc.constantFrom(
		...['1e400', '-1e400', '01', '1.', '{"__proto__":1}', `${'['.repeat(2000)}${']'.repeat(2000)}`]
	)
);

const json = (...values: unknown[]) => fc.constantFrom(...values.map((value) => JSON.stringify(value)));

/** Good values of the fields that bodies have, as JSON text. */
export const FIELDS: Readonly<Record<string, fc.Arbitrary<string>>> = {
	router_id: placeholder('ownRouter', 'foreignRouter'),
	duration: json('15m', '1h', '2h', '1d', '1w', '30d'),
	payment_method: json('mobile_money', 'mtn_momo', 'airtel_money'),
	phone: placeholder('mobile'),
	amount: weighted([3, placeholder('amount')], [1, fc.constant('500')]),
	session_id: placeholder('ownSession', 'foreignSession'),
	extends_session_id: placeholder('ownSession', 'foreignSession'),
	offer_id: weighted([1, json(1, 2, 3)], [1, placeholder('ownOffer')]),
	hourly: json(true, true, true, false),
	version: json(0, 1),
	max_duration: json('6h', '1d', '30d'),
	reason: json('as agreed by phone', 'x'.repeat(500)),
	offers: json(
		[],
		[{ name: 'Hour', duration: '1h', price: 400 }],
		[{ name: 'Day', duration: '1d', price: 1000, max_devices: 3, days: ['sat', 'sun'] }],
		[{ name: 'Day', duration: '1d', price: 1000, speed_down_kbps: 5000 }],
		[{ name: 'Night', duration: '2h', price: 100, from: '22:00', until: '06:00', active: false }]
	),
	price: json(1, 500, 700, 1_000_000),
	code: weighted([3, placeholder('ownVoucher')], [1, json('K7MQ-29XT-4HWB', 'k7mq29xt4hwb', 'K7MQ-29XT')]),
	count: json(1, 2, 40),
	seller: json('Corner shop', 'x'.repeat(60)),
	commission_percent: json(0, 12.5, 50),
	url: json(
		...[
			'https://hooks.example.com/a',
			'https://hooks.example.com:8443/b',
			'https://10.0.0.1/',
			'ftp://x.example/'
		]
	),
	events: json(...[['payment.success'], ['session.expired', 'payment.failed'], [], ['nothing.known']], [
		'session.ended',
		'session.ended'
	])
};

/** Good values of query parameters. */
export const PARAMETERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
	lat: fc.constantFrom('0.3476', '0', '-90', '90', '12.123456789012'),
	lon: fc.constantFrom('32.5825', '0', '-180', '180'),
	radius: fc.constantFrom('1', '1000', '50000', '0', '50001'),
	limit: fc.constantFrom('1', '20', '100', '0', '101'),
	name: fc.constantFrom('cafe', 'Kisementi%20Corner', '%22%20OR%20*', '-', 'a%00b'),
	cursor: fc.constantFrom('', 'e30', 'eyJ2IjoxLCJrIjpbMSwxXSwiZiI6IiJ9', '!!!'),
	if_status: fc.constantFrom('pending_payment', 'active', 'expired', 'nothing'),
	wait: fc.constantFrom('0', '0', '21', '-1'),
	period: fc.constantFrom('daily', 'weekly', 'monthly', 'yearly'),
	from: fc.constantFrom('2026-01-01', '2026-11-21', '2020-02-29', '2026-13-01'),
	to: fc.constantFrom('2026-01-31', '2026-11-21', '1999-12-31'),
	status: fc.constantFrom('active', 'expired', 'ended', 'success', 'pending'),
	provider_reference: fc.constantFrom('SBX4AAAE12EA6F1', '1029384756', '', 'a%00b'),
	created_after: fc.constantFrom('2026-01-01T00:00:00Z', '2999-01-01T00:00:00.000Z', '2026-01-01'),
	created_before: fc.constantFrom('2999-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z')
};

/** Lone surrogates have no percent-encoding: their WTF-8 bytes stand for them. */
export const percentEncoded = (text: string) =>
	[...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
