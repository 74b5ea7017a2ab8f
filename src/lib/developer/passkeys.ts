/** Passkeys in the browser (WebAuthn level 3). The server side is better-auth's, under /developer/passkey. */

/** Returns true if the browser supports passkeys for this address. */
export const hasPasskeys = (): boolean =>
	window.isSecureContext &&
	!/^[\d.]+$|:/.test(location.hostname) &&
	'PublicKeyCredential' in window &&
	'parseCreationOptionsFromJSON' in PublicKeyCredential &&
	'parseRequestOptionsFromJSON' in PublicKeyCredential;

const CALLS = '/developer/passkey';

export class PasskeyProblem extends Error {}

async function call(path: string, body?: object): Promise<unknown> {
	const response = await fetch(
		`${CALLS}/${path}`,
		body
			? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
			: {}
	);
	if (response.ok) return response.json();
	if (response.status === 429) throw new PasskeyProblem('Too many attempts. Wait a minute, then try again.');
	if (response.status === 401 && path.endsWith('register-options')) {
		throw new PasskeyProblem('You are signed out. Sign in again.');
	}
	if (response.status === 403) throw new PasskeyProblem('Sign out and in again first, then add the passkey.');
	throw new PasskeyProblem('This passkey is not known here. Use your password.');
}

/** @throws PasskeyProblem if the user or the browser cancels */
async function ask(work: Promise<Credential | null>): Promise<PublicKeyCredential> {
	let credential: Credential | null;
	try {
		credential = await work;
	} catch (error) {
		const known = error instanceof DOMException && error.name === 'InvalidStateError';
		throw new PasskeyProblem(known ? 'This device has a passkey for you already.' : 'No passkey was used.');
	}
	if (credential instanceof PublicKeyCredential) return credential;
	throw new PasskeyProblem('No passkey was used.');
}

/** Creates a passkey on this device for the signed-in user. @throws PasskeyProblem */
export async function addPasskey(name: string): Promise<void> {
	const options = (await call('generate-register-options')) as PublicKeyCredentialCreationOptionsJSON;
	const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
	const credential = await ask(navigator.credentials.create({ publicKey }));
	await call('verify-registration', { response: credential.toJSON(), name });
}

/** Signs in with a passkey of this device. @throws PasskeyProblem */
export async function signInByPasskey(): Promise<void> {
	const options = (await call('generate-authenticate-options')) as PublicKeyCredentialRequestOptionsJSON;
	const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
	const credential = await ask(navigator.credentials.get({ publicKey }));
	await call('verify-authentication', { response: credential.toJSON() });
}
