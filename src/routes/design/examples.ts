/** What the components on /design are shown with. */

export const LONG = 'A very long name of a place that sells Wi-Fi to whoever comes by, on the second floor';
export const hint = { country: 'Uganda', prefix: '+256', example: '0712 345678', testExample: '0712 345001' };
export const router = {
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
export const entry = {
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
export const errors = { network: 'Choose a network.', phone: 'This is not a whole number.' };
export const place = {
	id: 3,
	name: router.name,
	address: router.address,
	ssid: router.ssid,
	distance: '350 m',
	price: 'UGX 500',
	online: true
};
export const now = Date.UTC(2026, 10, 21, 12);
export const time = { now, timeZone: 'Africa/Kampala' };
export const key = {
	hint: 'atl_test_…3Fk2',
	role: 'owner',
	scopes: [],
	createdAt: now,
	expiresAt: null,
	lastUsedAt: null
};
export const endpoint = { status: 'active', disabledReason: null, failingSince: null, lastSuccessAt: null };
export const again = {
	amount: 500,
	money: 'UGX 500',
	words: '1 hour',
	methods: router.payment_methods,
	network: 'mtn_momo',
	phone: '0772 123 456',
	hint
};
const copied = (label: string, text: string) => ({ label, text, copy: 'Copy it' });
export const user = copied('User name', 's12');
export const code = copied('Your code', 'K7MQ-29XT');
export const network = copied('Password of the Wi-Fi itself', 'rubaga-guests');
export const qr = { size: 3, bits: 'ab8' };
export const way = {
	code: null,
	user: null,
	password: copied('Password of KISEMENTI-WIFI', 'k7mq-x2vd-9hta'),
	folded: null,
	network: null,
	steps: [] as string[],
	qr: { code: qr, label: 'QR code', hint: 'Scan it.' },
	note: null
};
export const go = {
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
export const told = { tone: 'plain', title: 'Check your phone', text: 'Confirm with your PIN.' };
export const nothing = () => undefined;
