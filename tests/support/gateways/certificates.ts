/** Certificates for tests, made of node:crypto alone: it signs, but has no words for the certificate around it. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Certificate {
	/** PEM */
	cert: string;
	/** PEM */
	key: string;
}

/** A value of DER (X.690): its tag, its length in octets, its octets. */
function der(tag: number, ...parts: Buffer[]): Buffer {
	const body = Buffer.concat(parts);
	const size = body.length;
	const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
	return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (text: string) => der(0x17, Buffer.from(text));
const COMMON_NAME = oid('550403');
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));

/** As devices make one for themselves at their first start: signed by its own key, with a name that nobody resolves. */
export function selfSigned(name: string): Certificate {
	const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
	const subject = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));
	const content = sequence(
		der(0x02, Buffer.from([1]), randomBytes(8)),
		ECDSA_WITH_SHA256,
		subject,
		sequence(utcTime('200101000000Z'), utcTime('491231235959Z')),
		subject,
		publicKey.export({ type: 'spki', format: 'der' })
	);
	const signature = sign('sha256', content, privateKey);
	const whole = sequence(content, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
	const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
	return {
		cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
		key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
	};
}
