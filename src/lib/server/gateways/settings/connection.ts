import { X509Certificate } from 'node:crypto';
import type { GatewayCredentials, GatewayKind, GatewaySettings } from '../gateway.ts';
import { apiAddress, parseNas } from './addresses.ts';
import { adapterOf } from '../registry.ts';
import type { GatewayInput } from './input.ts';
import type { Report } from '#lib/server/platform/errors.ts';

const MAX_CERTIFICATE_LENGTH = 16_384;
const API_USER = /^[\x21-\x39\x3b-\x7e]{1,64}$/;
/** Printable ASCII, because it becomes an HTTP header. */
const API_KEY = /^[\x20-\x7e]{1,256}$/;
/** FreeRADIUS accepts these without quotes, and CoovaChilli on a command line. RFC 2865 asks for at least 16 characters. */
const SECRET = /^[A-Za-z0-9_-]{16,64}$/;
const OPENNDS_SECRET = /^[A-Za-z0-9]{16,64}$/;

export const usesRadius = (kind: GatewayKind, settings: GatewaySettings): boolean =>
	adapterOf(kind).controlMode({ settings }) === 'radius';

export interface Check {
	input: GatewayInput;
	kind: GatewayKind;
	settings: GatewaySettings;
	credentials: GatewayCredentials;
	report: Report;
}

/** Checks how the gateway and Airtill reach each other. Options that it does not have were refused. */
export function checkConnection(check: Check): void {
	const { input, kind, settings, report } = check;
	const { control } = input;
	if (kind === 'mikrotik' && control !== null) {
		if (control === 'radius' || control === 'rest') settings.control = control;
		else report('control', 'use radius, or rest (RouterOS 7 without a RADIUS server)');
	}
	if (usesRadius(kind, settings)) checkRadius(check);
	if (kind === 'unifi' || settings.control === 'rest') checkApi(check);
}

/** @param secret null for one that is generated */
export function checkSecret(
	field: 'secret' | 'radius-secret',
	kind: GatewayKind,
	secret: string | null,
	report: Report
): void {
	const isOpennds = kind === 'opennds';
	if (secret === null || (isOpennds ? OPENNDS_SECRET : SECRET).test(secret)) return;
	report(
		field,
		`use 16 to 64 letters${isOpennds ? ' and' : ','} digits${isOpennds ? '' : ', hyphens or underscores'}`
	);
}

function checkRadius({ input: { nas, radiusSecret }, kind, settings, credentials, report }: Check): void {
	checkSecret('radius-secret', kind, radiusSecret, report);
	if (radiusSecret !== null) credentials.radiusSecret = radiusSecret;
	if (nas === null) return;
	const found = parseNas(nas);
	if (found) Object.assign(settings, found);
	else report('nas', `"${nas}" is not an address or address:port; for example 10.8.0.2 or 10.8.0.2:3799`);
}

function checkApi(check: Check): void {
	const { input, kind, settings, report } = check;
	const { api, apiCertificate, apiInsecure, externalAccess, publicApi } = input;
	const isUnifi = kind === 'unifi';
	if (api === null) {
		if (!isUnifi) report('api', 'give the URL of its REST API, for example https://10.8.0.2');
		else if (!externalAccess) report('api', NOBODY_CONNECTS);
		return;
	}
	const rules = { onlyTls: isUnifi && !apiInsecure, onlyPublic: publicApi };
	const path = isUnifi ? '/proxy/network/integration/v1' : '/rest';
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

const NOBODY_CONNECTS =
	'give the address of the console’s API. Without it Airtill cannot let devices online: buyers would pay and stay ' +
	'offline. If another system lets them online, add --external-access';

export function checkApiCredentials({
	input: { apiUser, apiKey },
	kind,
	credentials,
	report
}: Pick<Check, 'kind' | 'credentials' | 'report'> & {
	input: Pick<GatewayInput, 'apiUser' | 'apiKey'>;
}): void {
	if (kind === 'mikrotik') {
		if (apiUser === null) report('api-user', 'give the RouterOS user that may use the REST API');
		else if (!API_USER.test(apiUser)) report('api-user', 'use up to 64 characters without spaces and colons');
		else credentials.apiUser = apiUser;
	}
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
