import type { RegisteredGateway } from '../gateway-record.ts';
import type { GatewayChange, GatewayInput } from './input.ts';

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
		...(next.level === '4' ? (['ndsctl'] as const) : []),
		...(next.api?.startsWith('http:') ? (['apiCertificate'] as const) : [])
	];
	const dropped = unused.filter((field) => change[field] === undefined);
	const apiInsecure = change.apiInsecure ?? (usesApi && next.apiInsecure);
	return { ...next, ...Object.fromEntries(dropped.map((field) => [field, null])), apiInsecure };
}

/** Leaves out generated secrets, which do not change. */
function inputOf({
	name,
	routerId,
	kind,
	loginHosts,
	settings,
	credentials
}: RegisteredGateway): GatewayInput {
	const { level, nas, nasPort, api } = settings;
	const address = nas?.includes(':') ? `[${nas}]` : nas;
	return {
		...{ name, routerId, kind, loginHosts, secret: null, radiusSecret: null },
		level: level === undefined ? null : String(level),
		site: settings.site ?? null,
		accessPoints: settings.accessPoints ?? [],
		externalAccess: settings.external === true,
		control: settings.control ?? null,
		nas: nas !== undefined && nasPort !== undefined ? `${address}:${nasPort}` : (nas ?? null),
		ndsctl: settings.ndsctl ?? null,
		api: api ?? null,
		apiUser: credentials.apiUser ?? null,
		apiKey: credentials.apiKey ?? null,
		apiCertificate: settings.apiCertificate ?? null,
		apiInsecure: api?.startsWith('http:') ?? false,
		publicApi: settings.publicApi === true
	};
}
