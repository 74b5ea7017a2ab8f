import { isIP } from 'node:net';
import type { ProxySettings } from '../http/client-address.ts';
import type { Config } from '../config/config.ts';
import { isPublicAddress } from '../platform/ssrf/public-addresses.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** Calls none of the addresses. */
export function* checkAddresses(
	{ mode, origin, callbackUrl, contacts, smtp }: Config,
	{ addressHeader }: ProxySettings
): Generator<Finding> {
	const isSandbox = mode === 'sandbox';
	if (origin?.startsWith('https:')) yield ok('address', origin);
	else if (isSandbox) yield ok('address', origin ?? 'links follow the Host header, over plain http');
	else {
		const what = origin ? `${origin} is plain http` : 'ORIGIN is not set, so links use plain http';
		yield warn('address', what, 'set ORIGIN to the public https address');
	}
	// Only a proxy serves https.
	if (origin?.startsWith('https:') && addressHeader === '') {
		const what = 'ADDRESS_HEADER is not set, so all buyers behind the proxy count as one network';
		yield warn('proxy', what, 'set ADDRESS_HEADER and XFF_DEPTH for your proxy');
	}

	if (isSandbox) yield ok('callbacks', `the sandbox operator calls ${callbackUrl}`);
	else if (isLocal(callbackUrl)) {
		const what = `operators cannot reach ${callbackUrl} from outside`;
		yield fail('callbacks', what, 'set ORIGIN or CALLBACK_URL to the public address');
	} else if (!callbackUrl.startsWith('https:')) {
		const advice = 'most operators call https addresses only: set CALLBACK_URL';
		yield warn('callbacks', `${callbackUrl} is plain http`, advice);
	} else yield ok('callbacks', `operators call ${callbackUrl}`);

	if (!isSandbox && contacts.length === 0) {
		yield warn('contact', 'buyers find no phone number or email address under /help', 'set CONTACT');
	}

	if (!smtp && isSandbox) yield ok('mail', 'mails are printed, not sent');
	else if (!smtp) {
		const what = 'no mail server is configured, so nobody can sign up or reset a password in /developer';
		yield warn('mail', what, 'set SMTP_URL and MAIL_FROM, or create links with "accounts invite"');
	} else if (origin === null) {
		yield warn('mail', 'ORIGIN is not set, so no link can be mailed', 'set ORIGIN to the public address');
	} else yield ok('mail', `mails are sent through ${new URL(smtp.url).host}`);
}

function isLocal(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
	return isIP(host) ? !isPublicAddress(host) : !host.includes('.') || host.endsWith('.localhost');
}
