/** Rules for webhook URLs that need no lookup (wire format 5.5), and public addresses. */
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '#lib/domain/address.ts';
import { checkWebhookUrl } from '#lib/server/developer/webhook-transport.ts';

const strict = {
	allowInsecure: false,
	ownHosts: ['airtill.example', '203.0.113.9:3000', 'pay.airtill.example:8443']
};
const insecure = { allowInsecure: true, ownHosts: ['127.0.0.1:3000'] };

const label = 'a'.repeat(63);

describe('a webhook URL', () => {
	it.each([
		'https://app.example.com/hooks/wifi',
		'https://app.example.com:1024/',
		'https://app.example.com:8443/x?y=z&y=%20',
		'https://app.example.com:65535/',
		'HTTPS://APP.EXAMPLE.COM/',
		'https://app.example.com./',
		'https://bücher.example/',
		'https://with_underscore.example.com/',
		'https://127.0.0.1.example.com/',
		'https://mylocalhost.com/',
		'https://other.airtill.example/',
		`https://${label}.example/`,
		`https://app.example.com/${'x'.repeat(2048 - 'https://app.example.com/'.length)}`
	])('%s is allowed', (url) => {
		expect(checkWebhookUrl(url, strict)).toBeNull();
	});

	it.each([
		// schemes
		'http://app.example.com/',
		'ftp://app.example.com/',
		'file:///etc/passwd',
		'javascript:alert(1)',
		'blob:https://app.example.com/x',
		// ports
		'https://app.example.com:80/',
		'https://app.example.com:1023/',
		// user, password, fragment
		'https://user@app.example.com/',
		'https://:pass@app.example.com/',
		'https://app.example.com%40evil.example@127.0.0.1/',
		'https://app.example.com/#part',
		'https://app.example.com/#',
		// addresses in every form
		'https://127.0.0.1/',
		'https://127.0.0.1./',
		'https://8.8.8.8/',
		'https://127.1/',
		'https://0x7f000001/',
		'https://0177.0.0.1/',
		'https://2130706433/',
		'https://0/',
		'https://①②⑦.⓪.⓪.①/',
		'https://127。0。0。1/',
		'https://%31%32%37.0.0.1/',
		'https://169.254.169.254/latest/meta-data/',
		'https://[::1]/',
		'https://[::ffff:127.0.0.1]/',
		'https://[::ffff:7f00:1]/',
		'https://[2606:4700:4700::1111]/',
		'https://[64:ff9b::7f00:1]/',
		'https://[fe80::1]:8443/',
		// names without a dot, and of the inside
		'https://localhost/',
		'https://localhost./',
		'https://ｌｏｃａｌｈｏｓｔ/',
		'https://intranet/',
		'https://printer.local/',
		'https://METADATA.GOOGLE.INTERNAL./',
		'https://app.localhost/',
		'https://router.home.arpa/',
		// names that are none
		'https://a..example/',
		'https://.example.com/',
		'https://-app.example.com/',
		'https://app-.example.com/',
		`https://${label}a.example/`,
		`https://${`${label}.`.repeat(4)}example/`,
		// our own
		'https://airtill.example/',
		'https://AIRTILL.example./hooks',
		'https://pay.airtill.example/',
		// length
		`https://app.example.com/${'x'.repeat(2049 - 'https://app.example.com/'.length)}`,
		// longer once it is written out
		`https://app.example.com/${'ü'.repeat(500)}`
	])('%s is refused', (url) => {
		expect(checkWebhookUrl(url, strict)).toMatch(/\.$/);
	});

	it('is refused in test mode with the setting that allows it, if one does', () => {
		const test = { ...strict, isTest: true };
		const setting = 'WEBHOOK_ALLOW_INSECURE=1';
		expect(checkWebhookUrl('http://app.example.com/', test)).toMatch(
			/^Use https\. .*WEBHOOK_ALLOW_INSECURE=1/
		);
		expect(checkWebhookUrl('https://192.168.1.5/', test)).toContain(setting);
		expect(checkWebhookUrl('http://app.example.com/', strict)).toBe('Use https.');
		for (const url of ['ftp://app.example.com/', 'https://u@app.example.com/', 'https://airtill.example/']) {
			expect(checkWebhookUrl(url, test), url).not.toContain(setting);
		}
		expect(checkWebhookUrl('https://app.example.com/', test)).toBeNull();
	});

	it('may go anywhere on this machine when insecure ones are allowed, but not to ourselves', () => {
		for (const url of [
			'http://127.0.0.1:3001/',
			'http://localhost/',
			'https://[::1]:80/',
			'http://printer.local/'
		]) {
			expect(checkWebhookUrl(url, insecure), url).toBeNull();
		}
		for (const url of [
			'http://127.0.0.1:3000/x',
			'http://localhost:3000/x',
			'http://0x7f.1:3000/',
			'ftp://x.example/',
			'http://u@x.example/'
		]) {
			expect(checkWebhookUrl(url, insecure), url).not.toBeNull();
		}
	});
});

describe('a URL of this machine, where a sandbox allows it', () => {
	const local = { ...strict, allowThisMachine: true, ownHosts: [...strict.ownHosts, 'localhost:3000'] };

	it.each([
		'http://127.0.0.1:1024/',
		'http://localhost:8080/x',
		'http://[::1]:65535/',
		'http://0x7f.1:8080/'
	])('%s is allowed, and nowhere else', (url) => {
		expect(checkWebhookUrl(url, local)).toBeNull();
		expect(checkWebhookUrl(url, { ...local, allowThisMachine: false })).not.toBeNull();
	});

	it.each([
		// services of the system
		...['http://127.0.0.1/', 'http://127.0.0.1:1023/', 'http://localhost:22/'],
		// other machines, and other addresses of this one
		...['http://127.0.0.2:8080/', 'http://0.0.0.0:8080/', 'http://192.168.1.5:8080/', 'http://[::]:8080/'],
		...['http://169.254.169.254:8080/', 'http://[::ffff:127.0.0.1]:8080/', 'http://app.localhost:8080/'],
		// ourselves
		...['http://127.0.0.1:3000/', 'http://localhost.:3000/', 'http://[::1]:3000/'],
		// what no URL may have
		...['http://u:p@127.0.0.1:8080/', 'http://127.0.0.1:8080/#x', 'ftp://127.0.0.1:8080/']
	])('%s is refused', (url) => {
		expect(checkWebhookUrl(url, local)).not.toBeNull();
	});
});

describe('an address', () => {
	it.each(['8.8.8.8', '41.210.128.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
		'%s is public',
		(address) => {
			expect(isPublicAddress(address)).toBe(true);
		}
	);

	it.each([
		...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
		...['172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1'],
		...['198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '::', '::1'],
		...['::7f00:1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:169.254.169.254'],
		...[
			'64:ff9b::7f00:1',
			'64:ff9b::808:808',
			'64:ff9b:1::1',
			'100::1',
			'2001::1',
			'2001:db8::1',
			'2001:2::1'
		],
		...['2001:10::1', '2001:20::1', '2002:7f00:1::', '3fff::1', '4000::1', '5f00::1', 'fc00::1', 'fd12::1'],
		...['fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '', 'localhost', '127.0.0.1:80', '300.1.1.1']
	])('%s is not', (address) => {
		expect(isPublicAddress(address)).toBe(false);
	});
});
