import { X509Certificate } from 'node:crypto';
import type { GatewayCredentials, GatewayKind, GatewaySettings } from '../gateway.ts';
import { adapterOf } from '../registry.ts';
import { apiAddress, parseNas } from './addresses.ts';
import type { GatewayInput } from './input.ts';
import type { Report } from '#lib/server/platform/errors.ts';

const MAX_CERTIFICATE_LENGTH = 16_384;
const API_USER = /^[\x21-\x39\x3b-\x7e]{1,64}$/;
/** Printable ASCII, because it becomes an HTTP header. */
const API_KEY = /^[\x20-\x7e]{1,256}$/;
/** FreeRADIUS accepts these without quotes. RFC 2865 asks for at least 16 characters. */
const RADIUS_SECRET = /^[A-Za-z0-9_-]{16,64}$/;
const PROGRAM = /^\/[\w./-]{1,200}$/;

const API_PATHS: Partial<Record<GatewayKind, string>> = {
	unifi: '/proxy/network/integration/v1',
	mikrotik: '/rest'
};

export const usesRadius = (kind: GatewayKind, settings: GatewaySettings): boolean =>
	adapterOf(kind).controlMode({ settings }) === 'radius';

export interface Check {
	input: GatewayInput;
	kind: GatewayKind;
	settings: GatewaySettings;
	credentials: GatewayCredentials;
	report: Report;
}

export function checkConnection(check: Check): void {
	const { input, kind, settings, report } = check;
	const { control, ndsctl } = input;
	if (control !== null) {
		if (kind !== 'mikrotik') report('control', 'only MikroTik has this option; leave it out');
		else if (control === 'radius' || control === 'rest') settings.control = control;
		else report('control', 'use radius, or rest (RouterOS 7 without a RADIUS server)');
	}
	if (ndsctl !== null) {
		if (kind !== 'opennds' || settings.level === 4) {
			report('ndsctl', 'only openNDS at level 1 uses ndsctl; leave it out');
		} else if (!PROGRAM.test(ndsctl)) report('ndsctl', 'use an absolute path, for example /usr/bin/ndsctl');
		else settings.ndsctl = ndsctl;
	}
	checkRadius(check);
	checkApi(check);
}

/** @param secret null for one that is generated */
export function checkRadiusSecret(
	{ kind, settings, report }: Pick<Check, 'kind' | 'settings' | 'report'>,
	secret: string | null
): void {
	if (!usesRadius(kind, settings)) report('radius-secret', NO_RADIUS);
	else if (secret !== null && !RADIUS_SECRET.test(secret)) {
		report('radius-secret', 'use 16 to 64 letters, digits, hyphens or underscores');
	}
}

const NO_RADIUS = 'the gateway uses no RADIUS server; leave it out';

function checkRadius(check: Check): void {
	const { input, kind, settings, credentials, report } = check;
	const { nas, radiusSecret } = input;
	if (radiusSecret !== null) {
		checkRadiusSecret(check, radiusSecret);
		credentials.radiusSecret = radiusSecret;
	}
	if (nas === null) return;
	const found = parseNas(nas);
	if (!usesRadius(kind, settings)) report('nas', NO_RADIUS);
	else if (found) Object.assign(settings, found);
	else report('nas', `"${nas}" is not an address or address:port; for example 10.8.0.2 or 10.8.0.2:3799`);
}

function checkApi(check: Check): void {
	const { input, kind, settings, report } = check;
	const { api, apiUser, apiKey, apiCertificate, apiInsecure, publicApi } = input;
	const entered = { api, 'api-user': apiUser, 'api-key': apiKey, 'api-certificate': apiCertificate };
	const refuse = (reason: string) => {
		for (const [field, value] of Object.entries({ ...entered, 'api-insecure': apiInsecure || null })) {
			if (value !== null) report(field, reason);
		}
	};
	const path = API_PATHS[kind];
	if (path === undefined) return refuse(`${kind} has no API; leave it out`);
	if (kind === 'mikrotik' && settings.control !== 'rest')
		return refuse('add --control rest, or leave it out');
	if (api === null) {
		return kind === 'mikrotik'
			? report('api', 'give the URL of its REST API, for example https://10.8.0.2')
			: refuse('add --api with the URL of the API');
	}
	const rules = { onlyTls: kind === 'unifi' && !apiInsecure, onlyPublic: publicApi };
	const { address, problem } = apiAddress(api, path, rules);
	if (problem !== null) report('api', problem);
	else Object.assign(settings, { api: address, ...(publicApi && { publicApi }) });
	if (apiCertificate !== null) {
		const pem = parseCertificate(apiCertificate);
		if (pem === null) report('api-certificate', 'the file is not a certificate in PEM format');
		else if (address.startsWith('http:'))
			report('api-certificate', 'an http API has no certificate; leave it out');
		else settings.apiCertificate = pem;
	}
	checkApiCredentials(check);
}

export function checkApiCredentials({
	input: { apiUser, apiKey },
	kind,
	credentials,
	report
}: Pick<Check, 'kind' | 'credentials' | 'report'> & {
	input: Pick<GatewayInput, 'apiUser' | 'apiKey'>;
}): void {
	if (kind !== 'mikrotik') {
		if (apiUser !== null) report('api-user', 'only RouterOS has API users; leave it out');
	} else if (apiUser === null) report('api-user', 'give the RouterOS user that may use the REST API');
	else if (!API_USER.test(apiUser)) report('api-user', 'use up to 64 characters without spaces and colons');
	else credentials.apiUser = apiUser;
	if (apiKey === null) {
		const content = kind === 'unifi' ? 'the API key' : "the API user's password";
		report('api-key', `give a file with ${content} (--api-key-file)`);
	} else if (!API_KEY.test(apiKey)) {
		report('api-key', 'the file must contain one line of up to 256 printable ASCII characters');
	} else credentials.apiKey = apiKey;
}

function parseCertificate(pem: string): string | null {
	if (pem.length > MAX_CERTIFICATE_LENGTH) return null;
	try {
		return new X509Certificate(pem).toString();
	} catch {
		return null;
	}
}
