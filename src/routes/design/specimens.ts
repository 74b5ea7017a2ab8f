/**
 * The states in which components are shown on /design. Their types are not asked for: this page outlives changes of
 * components, and says so where one cannot be drawn any more.
 */
interface Specimen {
	/** File name of the component. */
	name: string;
	states: { what: string; props: Record<string, unknown> }[];
}

const LONG = 'A very long name of a place that sells Wi-Fi to whoever comes by, on the second floor';
const hint = { country: 'Uganda', prefix: '+256', example: '0712 345678', testExample: '0712 345001' };
const router = {
	id: 3,
	name: 'Kisementi Corner',
	address: 'Cooper Road',
	ssid: 'KISEMENTI-WIFI',
	lat: 0.3377,
	lon: 32.5878,
	price: 500,
	currency: 'UGX',
	min_duration: '15m',
	max_duration: '30d',
	payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money'],
	bounds: '15 minutes to 30 days',
	choices: [
		{ duration: '30m', words: '30 minutes', amount: 250, money: 'UGX 250' },
		{ duration: '1h', words: '1 hour', amount: 500, money: 'UGX 500' }
	]
};
const entry = {
	time: '1h 500',
	count: '',
	unit: 'h',
	asked: '',
	quoted: '',
	pays: '',
	network: 'mtn_momo',
	phone: '0772 123',
	purchase: 'example'
};
const errors = { network: 'Choose a network.', phone: 'This is not a whole number.' };
const place = {
	id: 3,
	name: router.name,
	address: router.address,
	ssid: router.ssid,
	distance: '350 m',
	price: 'UGX 500',
	online: true
};
const now = Date.UTC(2026, 10, 21, 12);
const time = { now, timeZone: 'Africa/Kampala' };
const key = {
	hint: 'atl_test_…3Fk2',
	role: 'owner',
	scopes: [],
	createdAt: now,
	expiresAt: null,
	lastUsedAt: null
};
const endpoint = { status: 'active', disabledReason: null, failingSince: null, lastSuccessAt: null };
const again = {
	amount: 500,
	money: 'UGX 500',
	words: '1 hour',
	methods: router.payment_methods,
	network: 'mtn_momo',
	phone: '0772 123 456',
	hint
};
const copied = (label: string, text: string) => ({ label, text, copy: 'Copy it' });
const user = copied('User name', 's12');
const code = copied('Your code', 'K7MQ-29XT');
const network = copied('Password of the Wi-Fi itself', 'rubaga-guests');
const qr = { size: 3, bits: 'ab8' };
const way = {
	code: null,
	user: null,
	password: copied('Password of KISEMENTI-WIFI', 'k7mq-x2vd-9hta'),
	folded: null,
	network: null,
	steps: [] as string[],
	qr: { code: qr, label: 'QR code', hint: 'Scan it.' },
	note: null
};
const go = {
	tone: 'plain',
	title: 'Take this device online',
	texts: ['Press the button.'],
	address: '/design',
	link: { text: 'Go online now', quiet: false },
	automaticSeconds: null,
	stay: null,
	move: null,
	refreshSeconds: null
};
const nothing = () => undefined;

export const specimens: readonly Specimen[] = [
	{ name: 'LanguageSwitch', states: [{ what: 'always', props: {} }] },
	{
		name: 'OwnerBrand',
		states: [
			{ what: 'a name', props: { brand: { name: 'Blue Crane', place: router.name, logo: null } } },
			{ what: 'a long name', props: { brand: { name: LONG.slice(0, 40), place: router.name, logo: null } } }
		]
	},
	{
		name: 'Lines',
		states: [
			{
				what: 'a receipt',
				props: {
					lines: [
						['Price', 'UGX 500'],
						['Place', LONG]
					]
				}
			}
		]
	},
	{
		name: 'Tile',
		states: [
			{ what: 'chosen', props: { name: 'a', value: '1', chosen: true, label: '1 hour', figure: 'UGX 500' } },
			{ what: 'not chosen', props: { name: 'b', value: '2', chosen: false, label: '1 day', figure: null } }
		]
	},
	{
		name: 'TimePicker',
		states: [
			{
				what: 'fresh',
				props: {
					router,
					choices: [
						{ duration: '30m', words: '30 minutes', amount: 250, money: 'UGX 250' },
						{ duration: '1h', words: '1 hour', amount: 500, money: 'UGX 500' }
					],
					entry: null,
					error: undefined,
					ownPrice: null
				}
			},
			{ what: 'refused', props: { router, choices: [], entry, error: 'Choose a time.', ownPrice: 'UGX 750' } }
		]
	},
	{
		name: 'NetworkPicker',
		states: [
			{ what: 'several', props: { methods: router.payment_methods, chosen: undefined, error: undefined } },
			{ what: 'one', props: { methods: ['mtn_momo'], chosen: undefined, error: undefined } },
			{ what: 'refused', props: { methods: router.payment_methods, chosen: 'x', error: errors.network } }
		]
	},
	{
		name: 'NumberField',
		states: [
			{ what: 'empty', props: { hint, value: '', error: undefined } },
			{ what: 'refused', props: { hint, value: '0772', error: errors.phone } }
		]
	},
	{
		name: 'PayForm',
		states: [
			{ what: 'fresh', props: { router, hint, purchase: 'example' } },
			{ what: 'refused', props: { router, hint, purchase: 'example', entry, errors } }
		]
	},
	{
		name: 'RetryForm',
		states: [
			{ what: 'fresh', props: { again } },
			{ what: 'refused', props: { again, entry, errors } }
		]
	},
	{ name: 'SendAgain', states: [{ what: 'always', props: { entry, why: 'The till does not answer.' } }] },
	{
		name: 'PlaceCard',
		states: [
			{ what: 'online', props: { number: 1, place, marked: false, onPoint: nothing } },
			{ what: 'marked', props: { number: 2, place: { ...place, id: 4 }, marked: true, onPoint: nothing } },
			{
				what: 'offline, long name',
				props: {
					number: 3,
					place: { ...place, id: 5, name: LONG, online: false },
					marked: false,
					onPoint: nothing
				}
			}
		]
	},
	{
		name: 'PlaceForm',
		states: [
			{ what: 'fresh', props: { text: '', problem: null } },
			{ what: 'not understood', props: { text: 'nowhere', problem: 'No place by that name here.' } }
		]
	},
	{
		name: 'RouterMap',
		states: [
			{
				what: 'one place',
				props: {
					places: [
						{ id: 3, name: router.name, price: 'UGX 500', online: true, lat: router.lat, lon: router.lon }
					],
					first: 1,
					position: { lat: router.lat, lon: router.lon },
					radius: 1000,
					marked: null,
					onMark: nothing,
					onSearch: nothing
				}
			}
		]
	},
	{
		name: 'Password',
		states: [
			{ what: 'of the Wi-Fi itself', props: { way } },
			{
				what: 'with a user name, no code',
				props: { way: { ...way, user, steps: ['Choose it.'], qr: null } }
			},
			{ what: 'the code instead', props: { way: { ...way, code, user, folded: 'If a page asks', network } } },
			{ what: 'the same for all', props: { way: { ...way, note: 'All guests share it.' } } }
		]
	},
	{
		name: 'GoOnline',
		states: [
			{ what: 'to be done', props: { go } },
			{ what: 'under way', props: { go: { ...go, link: null, refreshSeconds: 4 } } },
			{ what: 'refused', props: { go: { ...go, tone: 'bad', title: 'Not let in.', move: 'Use it here' } } },
			{ what: 'done', props: { go: { ...go, tone: 'good', title: 'You are online.' } } }
		]
	},
	{
		name: 'MoveDevice',
		states: [
			{ what: 'folded', props: { move: { texts: ['Join it.'], address: '/design', qr }, code: code.text } }
		]
	},
	{ name: 'Qr', states: [{ what: 'always', props: { code: qr, label: 'QR code' } }] },
	{
		name: 'TimeLeft',
		states: [
			{
				what: 'much',
				props: { remainingSeconds: 7_000, totalSeconds: 7_200, asOf: '15:00', onOver: nothing }
			},
			{
				what: 'little',
				props: { remainingSeconds: 200, totalSeconds: 7_200, asOf: '15:00', onOver: nothing }
			}
		]
	},
	{ name: 'CopyButton', states: [{ what: 'always', props: { text: 'copied', label: 'Copy the password' } }] },
	{ name: 'PrintButton', states: [{ what: 'always', props: { label: 'Print' } }] },
	{
		name: 'ShareButton',
		states: [{ what: 'where the browser can', props: { text: 'shared', label: 'Share the receipt' } }]
	},
	{ name: 'TestNumbers', states: [{ what: 'always', props: { example: hint.testExample } }] },
	{
		name: 'PasskeyButton',
		states: [
			{ what: 'sign in', props: { kind: 'sign-in', label: 'Sign in with a passkey', next: '/design' } }
		]
	},
	{ name: 'KeyFacts', states: [{ what: 'a fresh key', props: { key, ...time } }] },
	{
		name: 'NewSecret',
		states: [{ what: 'always', props: { secret: 'whsec_an_example_that_is_no_secret' } }]
	},
	{
		name: 'WebhookState',
		states: [
			{ what: 'never tried', props: { endpoint, ...time } },
			{ what: 'well', props: { endpoint: { ...endpoint, lastSuccessAt: now }, ...time } },
			{ what: 'failing', props: { endpoint: { ...endpoint, failingSince: now }, ...time } },
			{
				what: 'disabled',
				props: { endpoint: { ...endpoint, status: 'disabled', disabledReason: 'gone' }, ...time }
			}
		]
	},
	{
		name: 'EventChoices',
		states: [
			{
				what: 'one chosen',
				props: {
					choices: [
						{ name: 'payment.success', text: 'Somebody paid.' },
						{ name: 'session.expired', text: 'Time ran out.' }
					],
					chosen: ['payment.success']
				}
			}
		]
	}
];
