import { createHash } from 'node:crypto';
import { redirect, type Answer, type Behaviour, type Gate } from './device.ts';

const md5 = (...parts: (string | Buffer)[]) => {
	const digest = createHash('md5');
	for (const part of parts) digest.update(part);
	return digest.digest();
};

/** CoovaChilli: signed addresses, a challenge for each, and a CHAP response at /logon. */
export function coova(gate: Gate): Behaviour {
	let challenge = Buffer.alloc(16);

	function toPortal(res: string, original: string, more: Record<string, string> = {}): Answer {
		challenge = gate.random(16);
		const [host = '', port = ''] = gate.host.split(':');
		// In this order, with a language, as it is written in the sources.
		const parameters = Object.entries({
			res,
			uamip: host,
			uamport: port,
			challenge: challenge.toString('hex'),
			called: '02-AA-BB-CC-DD-EE',
			mac: gate.device.mac.toUpperCase().replaceAll(':', '-'),
			ip: gate.device.ip,
			nasid: 'stand-in',
			lang: 'en',
			sessionid: '5f0000000001',
			...more,
			userurl: original
		});
		const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
		const address = `${gate.connection.portal}?${query}`;
		const md = md5(address, gate.connection.secret).toString('hex').toUpperCase();
		return redirect(302, `${address}&md=${md}`);
	}

	return {
		intercept: (asked) => toPortal('notyet', asked),
		async own(path, query) {
			if (path === '/prelogin') return toPortal('notyet', '');
			if (path !== '/logon') return null;
			const user = query.get('username') ?? '';
			const password = await gate.connection.passwordOf(user);
			const shared = md5(challenge, gate.connection.secret);
			const isRight =
				password !== null && query.get('response') === md5('\0', password, shared).toString('hex');
			gate.signIn({ user, isRight });
			const original = query.get('userurl') ?? '';
			return isRight
				? toPortal('success', original, { timeleft: '3600' })
				: toPortal('failed', original, { reply: 'Login failed' });
		}
	};
}
