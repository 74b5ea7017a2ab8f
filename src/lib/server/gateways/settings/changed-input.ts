import { withoutNulls } from '#lib/server/db/queries.ts';
import type { RegisteredGateway } from '../gateway-record.ts';
import { NO_SETTINGS, type GatewayChange, type GatewayInput } from './input.ts';

const API_FIELDS = ['api', 'apiUser', 'apiKey', 'apiCertificate'] as const;

/** Returns the complete input of a changed gateway. Drops old settings that its new connection does not use. */
export function changedInput(gateway: RegisteredGateway, change: GatewayChange): GatewayInput {
	const next = { ...inputOf(gateway), ...change };
	// With an address of its API, Airtill controls the gateway itself.
	if (change.api != null && change.externalAccess === undefined) next.externalAccess = false;
	const { kind } = gateway;
	const usesApi = kind === 'unifi' ? !next.externalAccess : next.control === 'rest';
	const unused: (keyof GatewayChange)[] = [
		...(usesApi ? [] : API_FIELDS),
		...(kind === 'mikrotik' && usesApi ? (['nas'] as const) : []),
		...(next.api?.startsWith('http:') ? (['apiCertificate'] as const) : [])
	];
	const dropped = unused.filter((field) => change[field] === undefined);
	const apiInsecure = change.apiInsecure ?? (usesApi && next.apiInsecure);
	return { ...next, ...Object.fromEntries(dropped.map((field) => [field, null])), apiInsecure };
}

/** Leaves out generated secrets, which do not change. */
function inputOf(gateway: RegisteredGateway): GatewayInput {
	const { name, routerId, kind, mode, loginHosts, settings, credentials } = gateway;
	const { level, nas, nasPort, api, site, accessPoints, control, apiCertificate } = settings;
	const { apiUser, apiKey } = credentials;
	const address = nas?.includes(':') ? `[${nas}]` : nas;
	return {
		...{ ...NO_SETTINGS, name, routerId, kind, loginHosts },
		...withoutNulls({ site, accessPoints, control, api, apiUser, apiKey, apiCertificate }),
		level: level === undefined ? null : String(level),
		externalAccess: mode === 'external',
		nas: (nasPort === undefined ? nas : `${address}:${nasPort}`) ?? null,
		apiInsecure: api?.startsWith('http:') ?? false,
		publicApi: settings.publicApi === true
	};
}
