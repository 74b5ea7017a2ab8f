/** The app on a person's phone (TOTP, RFC 6238), and the forms that set it up. */
import { createHmac } from 'node:crypto';
import type { TestServer } from '../server/server.ts';
import { fieldValue, type Browsing, type Page } from './browsing.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PERIOD_MS = 30_000;

interface PhoneApp {
	/** The six digits that the app shows now. */
	code(): string;
}

function phoneApp({ now }: TestServer, uri: string): PhoneApp {
	const secret = new URL(uri).searchParams.get('secret') ?? '';
	const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
	const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
	return {
		code() {
			const counter = Buffer.alloc(8);
			counter.writeBigUInt64BE(BigInt(Math.floor(now() / PERIOD_MS)));
			const mac = createHmac('sha1', key).update(counter).digest();
			const at = (mac.at(-1) ?? 0) & 15;
			return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
		}
	};
}

/** Sets up the second factor of a signed-in person. `page` shows the recovery codes. */
export async function setUpSecondFactor(
	server: TestServer,
	person: Browsing,
	password: string,
	account = '/developer/account'
): Promise<{ app: PhoneApp; codes: string[]; page: Page }> {
	const key = await person.post(`${account}?/factor`, { password });
	const uri = fieldValue(key, 'uri');
	const app = phoneApp(server, uri);
	const page = await person.post(`${account}?/confirm`, { uri, code: app.code() });
	const shown = /class="secret[^>]*>([^<]*)</.exec(page.html)?.[1] ?? '';
	const codes = shown.match(/\w{5}-\w{5}/g) ?? [];
	return { app, codes, page };
}
