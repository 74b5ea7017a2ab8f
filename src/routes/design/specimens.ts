import {
	again,
	code,
	endpoint,
	entry,
	errors,
	go,
	hint,
	key,
	LONG,
	network,
	nothing,
	now,
	place,
	qr,
	router,
	time,
	told,
	user,
	way
} from './examples.ts';

/**
 * The states in which components are shown on /design. Their types are not asked for: this page outlives changes of
 * components, and says so where one cannot be drawn any more.
 */
interface Specimen {
	/** File name of the component. */
	name: string;
	/** What it stands in on its page, if it needs that to look like itself. */
	within?: 'tiles' | 'places' | 'map';
	states: { what: string; props: Record<string, unknown> }[];
}

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
		within: 'tiles',
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
				props: { offer: router, entry: null, error: undefined, ownPrice: null }
			},
			{ what: 'refused', props: { offer: router, entry, error: 'Choose a time.', ownPrice: 'UGX 750' } }
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
	{
		name: 'AddTime',
		states: [
			{ what: 'folded', props: { add: { router, hint, entry }, open: false } },
			{ what: 'refused', props: { add: { router, hint, entry }, open: true, entry, errors } }
		]
	},
	{ name: 'SendAgain', states: [{ what: 'always', props: { entry, why: 'The till does not answer.' } }] },
	{
		name: 'PlaceCard',
		within: 'places',
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
		within: 'map',
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
		name: 'Told',
		states: [
			{ what: 'waits', props: { told, level: 2, waitsFor: 'UGX 500' } },
			{ what: 'went well', props: { told: { ...told, tone: 'good' }, level: 2, waitsFor: null } },
			{ what: 'needs care', props: { told: { ...told, tone: 'notice' }, level: 2, waitsFor: null } },
			{ what: 'went wrong', props: { told: { ...told, tone: 'bad' }, level: 2, waitsFor: null } }
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
