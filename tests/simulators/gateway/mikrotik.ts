import { createHash } from 'node:crypto';
import { html, redirect, type Answer, type Behaviour, type Gate } from './device.ts';

const attribute = (text: string) => text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
const octal = (bytes: Buffer) => [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

/**
 * A MikroTik hotspot whose login page posts itself to the portal, and which takes HTTP PAP or CHAP at
 * `link-login-only`. Variables that have no value are empty.
 */
export function mikrotik(gate: Gate, login: 'pap' | 'chap'): Behaviour {
	let chap = { id: Buffer.alloc(0), challenge: Buffer.alloc(0) };

	function loginPage(original: string, error: string): Answer {
		// One for each try: what a browser asks for beside the page (an icon) must not spoil it.
		if (login === 'chap' && chap.id.length === 0) chap = { id: gate.random(1), challenge: gate.random(16) };
		const fields: Record<string, string> = {
			mac: gate.device.mac.toUpperCase(),
			ip: gate.device.ip,
			identity: 'Stand-in',
			server: 'hotspot1',
			'link-login-only': `${gate.url}/login`,
			'link-orig': original,
			'chap-id': octal(chap.id),
			'chap-challenge': octal(chap.challenge),
			error
		};
		const inputs = Object.entries(fields).map(
			([name, value]) => `<input type="hidden" name="${name}" value="${attribute(value)}">`
		);
		return html(
			`<!doctype html><title>Sign in</title><form id="r" name="r" action="${gate.connection.portal}" method="post">` +
				`${inputs.join('')}</form><script>document.r.submit()</script>` +
				`<noscript><input form="r" type="submit" value="Continue"></noscript>`
		);
	}

	async function isRight(user: string, given: string): Promise<boolean> {
		const password = await gate.connection.passwordOf(user);
		if (password === null) return false;
		if (login === 'pap') return given === password;
		const { id, challenge } = chap;
		return given === createHash('md5').update(id).update(password).update(challenge).digest('hex');
	}

	return {
		intercept: (asked) => redirect(302, `${gate.url}/login?dst=${encodeURIComponent(asked)}`),
		async own(path, query) {
			if (path !== '/login') return null;
			const target = query.get('dst') ?? '';
			const user = query.get('username');
			if (user === null) return loginPage(target, '');
			const right = await isRight(user, query.get('password') ?? '');
			chap = { id: Buffer.alloc(0), challenge: Buffer.alloc(0) };
			gate.signIn({ user, isRight: right });
			return right ? redirect(302, target) : loginPage(target, 'invalid username or password');
		}
	};
}
