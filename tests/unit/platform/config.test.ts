import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MAX_DURATION, durationSeconds } from '#lib/domain/time.ts';
import { MAX_AMOUNT_MINOR, priceForSeconds, toMinor } from '#lib/domain/money.ts';
import { formatConfigTable, loadConfig } from '#lib/server/config/config.ts';
import { Refused } from '#lib/server/platform/errors.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = 'a secret of at least 32 characters';
const load = (env: Record<string, string | undefined> = {}) => loadConfig({ DATA_DIR: folder, ...env });

function complaint(env: Record<string, string>): string {
	try {
		load(env);
	} catch (error) {
		if (error instanceof Refused) return error.message;
		throw error;
	}
	return 'accepted';
}

/** Values that must be refused, for every variable that can be wrong. */
const WRONG: Record<string, string[]> = {
	PORT: ['x', '-1', '65536', '3000.5', '0x10', ' 3000'],
	ORIGIN: ['airtill.example', 'ftp://airtill.example', 'javascript:alert(1)', '/'],
	DATABASE_URL: ['data.db', 'file:', 'mysql://x', 'postgres:'],
	DATABASE_POOL: ['0', '201', 'many'],
	DATABASE_NAMED_STATEMENTS: ['yes', 'off'],
	AIRTILL_MODE: ['Live', 'production', 'test'],
	AIRTILL_SECRET: ['short', 'x'.repeat(31)],
	AIRTILL_SECRET_FALLBACK: ['short'],
	AIRTILL_DEMO: ['yes', 'true', '1'],
	AIRTILL_LOG_LEVEL: ['verbose', 'INFO'],
	SMTP_URL: ['mail.example', 'https://mail.example', 'smtp'],
	MAIL_FROM: ['airtill', 'a@b.example\nBcc: c@d.example'],
	AFRICASTALKING_SENDER: ['a<b', 'x'.repeat(16)],
	AFRICASTALKING_URL: ['api.africastalking.com', 'ftp://x'],
	SMS_URL: ['sms.example', 'ftp://x'],
	SMS_HEADERS: ['authorization: x', '[]', '{"a":1}', '{"a b":"x"}', '{"a":"x\\ny"}'],
	SMS_BODY: ['{"to":"{number}"}', '{"text":"{text}"}'],
	SMS_PRICE: ['UGX 35', '-1', '35,5', '0.005'],
	SMS_BUYER_CODES: ['yes', 'true'],
	CONTACT: ['the manager', '0800 100 200, office', ',', '12'],
	TEXTS_DIR: ['/nowhere'],
	CURRENCY: ['ugx', 'JPY', 'toString', 'UG'],
	DEFAULT_REGION: ['Uganda', 'ug', 'UGA', 'ZZ', 'AA'],
	MAP_CENTRE: ['0.3476', '91,0', '0,181', 'a,b', '0.3476;32.5825'],
	BASEMAP: ['city.mbtiles', 'https://tiles.example/{z}/{x}/{y}.png'],
	BASEMAP_ATTRIBUTION: [' ', '<b>us</b>', 'x'.repeat(201)],
	REPORT_TIMEZONE: ['Kampala', 'Africa/Nowhere', '+25:00'],
	CALLBACK_URL: ['airtill.example', 'ftp://x'],
	CALLBACK_ADDRESSES: ['196.201.214.200', 'daraja=', 'daraja=home', 'daraja=10.0.0.0/33', 'a=::1;a=::2'],
	KEEP_NUMBERS_DAYS: ['89', '36501', 'never'],
	KEEP_DEVICES_DAYS: ['31', '3651', '1y'],
	PAYMENT_TIMEOUT_SECONDS: ['29', '3601', '10m'],
	SESSION_PAYMENT_SECONDS: ['59', '86401', '-1'],
	LATE_PAYMENT_SECONDS: ['-1', '86401'],
	RECONCILE_HOURS: ['23', '721'],
	RATE_LIMIT_DEFAULT: ['0', '1000001', '-1', '100/min'],
	RATE_LIMIT_ENTERPRISE: ['0', '1e3'],
	MAX_PRICE: ['0', '1000000001', '0.5'],
	PAYMENT_ATTEMPTS: ['0', '101'],
	PAYER_PROMPTS: ['0', '1001'],
	UNPAID_PROMPTS: ['0', '-1'],
	UNPAID_PROMPTS_TOTAL: ['9', 'none'],
	COMMISSION_BASIS_POINTS: ['-1', '10001', '10%']
};

/** The same for the variables of operators, which are read when all others are right. */
const WRONG_OF_OPERATORS: Record<string, string[]> = {
	MTN_BASE_URL: ['sandbox.momodeveloper.mtn.com', 'ftp://x'],
	MTN_TARGET_ENVIRONMENT: ['production', 'MTNUGANDA', 'mtn'],
	MTN_API_USER: ['me', 'c72025f5-5cd1-4630-99e4'],
	MTN_API_KEY: [' key', 'key '],
	MTN_SUBSCRIPTION_KEY: [' key'],
	MTN_CURRENCY: ['eur', 'JPY', 'toString'],
	MTN_COUNTRY: ['ug', 'ZZ', 'Uganda'],
	MTN_CALLBACKS: ['yes', '1'],
	MTN_DISBURSEMENT_SUBSCRIPTION_KEY: [' key'],
	MTN_DISBURSEMENT_API_USER: ['me'],
	MTN_DISBURSEMENT_API_KEY: ['key '],
	MTN_REFUND_VERSION: ['v3_0', '1'],
	MPESA_BASE_URL: ['sandbox.safaricom.co.ke', 'ftp://x'],
	MPESA_CONSUMER_KEY: [' key', 'key '],
	MPESA_CONSUMER_SECRET: [' secret'],
	MPESA_SHORTCODE: ['1234', '12345678', '017437', 'PayBill'],
	MPESA_PASSKEY: ['key '],
	MPESA_TILL: ['1234', 'till'],
	MPESA_PULL: ['yes', '1'],
	MPESA_INITIATOR: [' api'],
	MPESA_SECURITY_CREDENTIAL: ['password!', ' Zm9v'],
	AIRTEL_BASE_URL: ['openapi.airtel.ug', 'ftp://x'],
	AIRTEL_COUNTRY: ['ug', 'Uganda', 'ZZ'],
	AIRTEL_CURRENCY: ['ugx', 'UG'],
	AIRTEL_CLIENT_ID: [' id'],
	AIRTEL_CLIENT_SECRET: ['secret '],
	AIRTEL_API_VERSION: ['1', 'V1', 'v3'],
	AIRTEL_REFUND_VERSION: ['2', 'v3'],
	AIRTEL_MESSAGE_SIGNING: ['yes', '1', 'true'],
	AIRTEL_ID_FORMAT: ['UUID', '25'],
	AIRTEL_LEADING_ZERO: ['0', 'yes'],
	AIRTEL_DECIMALS: ['1', '3', 'two'],
	AIRTEL_MIN_AMOUNT: ['-1', '1e3', '1.005'],
	AIRTEL_MAX_AMOUNT: ['1,000', 'much'],
	AIRTEL_CALLBACK_KEY: [' key'],
	PAWAPAY_BASE_URL: ['api.pawapay.io', 'ftp://api.pawapay.io'],
	PAWAPAY_API_TOKEN: [' token', 'token '],
	PAWAPAY_PROVIDERS: ['MTN_MOMO_UGA', 'mtn=MTN_MOMO_UGA', 'mtn_momo=MTN_MOMO_UGA,mtn_momo=AIRTEL_OAPI_UGA'],
	PAWAPAY_VERIFY_CALLBACKS: ['yes', '1'],
	PAWAPAY_SIGNING_KEY: ['key', '-----BEGIN PRIVATE KEY-----'],
	PAWAPAY_SIGNING_KEY_ID: [' id']
};

describe('the configuration', () => {
	it('needs no variable at all', () => {
		expect(load()).toMatchObject({
			mode: 'sandbox',
			port: 3000,
			databaseUrl: `file:${folder}/airtill.db`,
			currency: 'UGX',
			defaultRegion: 'UG',
			centre: { lat: 0.3476, lon: 32.5825 },
			reportTimezone: 'Africa/Kampala',
			callbackUrl: 'http://127.0.0.1:3000',
			remoteApi: null,
			demo: true,
			rateLimits: { default: 100, enterprise: 1000, portal: Infinity },
			maxPrice: 1_000_000,
			paymentTimeoutMs: 600_000,
			sessionPaymentMs: 1_800_000,
			latePaymentMs: 1_800_000
		});
	});

	it('takes an empty variable for an unset one', () => {
		const names = Object.keys({ ...WRONG, ...WRONG_OF_OPERATORS });
		const empty = Object.fromEntries(names.map((name) => [name, '']));
		expect(load(empty)).toEqual(load());
	});

	it.each(
		Object.entries({ ...WRONG, ...WRONG_OF_OPERATORS }).flatMap(([name, values]) =>
			values.map((value) => [name, value] as const)
		)
	)('refuses %s=%s and names the variable', (name, value) => {
		expect(complaint({ [name]: value })).toMatch(new RegExp(`^- ${name}: \\S.*$`, 'm'));
	});

	it.each([WRONG, WRONG_OF_OPERATORS])('names every wrong variable at once', (all) => {
		const wrong = Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values[0] ?? '']));
		const message = complaint(wrong);
		for (const name of Object.keys(all)) expect(message).toContain(`- ${name}: `);
		expect(message.split('\n')).toHaveLength(1 + Object.keys(all).length);
	});

	it('repeats no secret in what it says', () => {
		expect(complaint({ AIRTILL_SECRET: 'hunter2', DATABASE_URL: 'mysql://u:hunter2@x' })).not.toContain(
			'hunter2'
		);
	});

	it('wants a secret in live mode, and key and address of a remote API together', () => {
		expect(complaint({ AIRTILL_MODE: 'live' })).toContain('AIRTILL_SECRET');
		expect(load({ AIRTILL_MODE: 'live', AIRTILL_SECRET: secret })).toMatchObject({
			mode: 'live',
			demo: false
		});
		expect(complaint({ AIRTILL_API_URL: 'https://api.example/v1' })).toContain('AIRTILL_API_KEY');
		expect(complaint({ AIRTILL_API_KEY: 'x' })).toContain('AIRTILL_API_URL');
		const remote = load({ AIRTILL_API_URL: 'https://api.example/v1/', AIRTILL_API_KEY: 'x' }).remoteApi;
		expect(remote).toEqual({ url: 'https://api.example/v1', key: 'x' });
	});

	it('wants one complete SMS provider, and a price that its currency has', () => {
		const africasTalking = { AFRICASTALKING_USERNAME: 'app', AFRICASTALKING_API_KEY: 'key' };
		expect(load().sms).toBeNull();
		expect(load({ ...africasTalking, SMS_PRICE: '35' }).sms).toMatchObject({ priceMinor: 35 });
		expect(load({ SMS_URL: 'http://modem.local/send/' }).sms?.provider).toMatchObject({
			...{ kind: 'http', url: 'http://modem.local/send/' }
		});
		expect(complaint({ AFRICASTALKING_USERNAME: 'app' })).toContain('AFRICASTALKING_API_KEY');
		expect(complaint({ ...africasTalking, SMS_URL: 'https://x.example' })).toContain('- SMS_URL: ');
		expect(complaint({ SMS_PRICE: '0.5' })).toContain('- SMS_PRICE: UGX');
	});

	it.each([
		['UGX', '1000000000', null],
		['KES', '13888888', null],
		['KES', '13888889', '- MAX_PRICE: nobody could pay 30d of it. Use at most 13888888 with CURRENCY=KES.']
	])('takes no price in %s of which 30 days are more than an amount may be: %s', (currency, price, said) => {
		const settings = { CURRENCY: currency, MAX_PRICE: price };
		if (said !== null) return expect(complaint(settings)).toContain(said);
		const { maxPrice } = load(settings);
		const longest = priceForSeconds(toMinor(maxPrice, currency) ?? 0, durationSeconds(MAX_DURATION));
		expect(longest).toBeLessThanOrEqual(MAX_AMOUNT_MINOR);
	});

	it('refuses insecure webhooks in live mode', () => {
		const live = { AIRTILL_MODE: 'live', AIRTILL_SECRET: secret };
		const insecure = { WEBHOOK_ALLOW_INSECURE: '1' };
		expect(complaint({ ...live, ...insecure })).toContain('- WEBHOOK_ALLOW_INSECURE: ');
		expect(load(insecure)).toMatchObject({ webhookAllowInsecure: true });
		expect(load(live)).toMatchObject({ webhookAllowInsecure: false });
	});

	it('makes a secret for a sandbox once, for its owner only', () => {
		const dataDir = path.join(folder, 'made', 'here');
		const first = loadConfig({ DATA_DIR: dataDir });
		expect(first.secret.length).toBeGreaterThanOrEqual(32);
		expect(loadConfig({ DATA_DIR: dataDir }).secret).toBe(first.secret);
		const file = path.join(dataDir, 'sandbox-secret');
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(readFileSync(file, 'utf8').trim()).toBe(first.secret);
	});

	it('does not go on with a damaged secret: passwords sealed with the right one would be lost', () => {
		const dataDir = mkdtempSync(path.join(folder, 'damaged-'));
		for (const content of ['', 'half']) {
			writeFileSync(path.join(dataDir, 'sandbox-secret'), content);
			expect(() => loadConfig({ DATA_DIR: dataDir })).toThrow(/sandbox-secret/);
		}
	});

	it('documents every variable it reads', () => {
		const table = formatConfigTable();
		const wrong = Object.keys({ ...WRONG, ...WRONG_OF_OPERATORS });
		for (const name of [...wrong, 'HOST', 'DATA_DIR', 'AIRTILL_API_URL', 'AIRTILL_API_KEY']) {
			expect(table).toMatch(new RegExp(`^\\| \`${name}\` \\| .* \\| .{10,} \\|$`, 'm'));
		}
	});
});
