import { constants, generateKeyPairSync, privateDecrypt, publicEncrypt, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** Replaces M-Pesa's certificate, with which a client encrypts the initiator's password. */
interface SimulatedCertificate {
	/** Writes the certificate (PEM) where a client can read it. @returns its path */
	file(): string;
	/** As the operator's portal would do it. */
	encrypt(password: string): string;
	/** @returns null when it was not made with the certificate */
	decrypt(securityCredential: string): string | null;
}

const PADDING = constants.RSA_PKCS1_PADDING;

let made: SimulatedCertificate | null = null;

/** One for the whole process, as the operator has one. */
export const simulatedCertificate = (): SimulatedCertificate => (made ??= makeCertificate());

function makeCertificate(): SimulatedCertificate {
	const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
	let written: string | null = null;

	function pem(): string {
		// X.509 version 1, self-signed: the least that is a certificate.
		const sha256WithRsa = der(0x30, Buffer.from('06092a864886f70d01010b0500', 'hex'));
		const commonName = der(
			0x30,
			Buffer.from('0603550403', 'hex'),
			der(0x0c, Buffer.from('Simulated M-Pesa'))
		);
		const name = der(0x30, der(0x31, commonName));
		const validity = der(
			0x30,
			...['200101000000Z', '491231235959Z'].map((time) => der(0x17, Buffer.from(time)))
		);
		const spki = publicKey.export({ type: 'spki', format: 'der' });
		const content = der(0x30, der(0x02, Buffer.from([1])), sha256WithRsa, name, validity, name, spki);
		const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
		const base64 = der(0x30, content, sha256WithRsa, signature).toString('base64');
		const lines = base64.match(/.{1,64}/g) ?? [];
		return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
	}

	return {
		file() {
			if (written === null) {
				const folder = mkdtempSync(path.join(tmpdir(), 'simulated-daraja-'));
				process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
				written = path.join(folder, 'certificate.cer');
				writeFileSync(written, pem());
			}
			return written;
		},
		encrypt: (password) =>
			publicEncrypt({ key: publicKey, padding: PADDING }, Buffer.from(password)).toString('base64'),
		decrypt(securityCredential) {
			try {
				const sealed = Buffer.from(securityCredential, 'base64');
				return privateDecrypt({ key: privateKey, padding: PADDING }, sealed).toString('utf8');
			} catch {
				return null;
			}
		}
	};
}

/** A value of ASN.1's distinguished encoding. */
function der(tag: number, ...parts: Buffer[]): Buffer {
	const content = Buffer.concat(parts);
	const length = content.length;
	const bytes =
		length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
	return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}
