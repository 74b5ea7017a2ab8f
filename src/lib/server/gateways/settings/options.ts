import type { Report } from '#lib/server/platform/errors.ts';
import type { GatewayKind } from '../gateway.ts';
import { NO_SETTINGS, type GatewayInput } from './input.ts';

/** `publicApi` says who typed the others. */
type Option = Exclude<keyof typeof NO_SETTINGS, 'publicApi'>;

/** These decide which options a gateway has. */
type Place = Pick<GatewayInput, 'api' | 'control'> & { kind: GatewayKind };

const RADIUS: readonly Option[] = ['nas', 'radiusSecret'];
const API: readonly Option[] = ['api', 'apiKey', 'apiCertificate', 'apiInsecure'];

function optionsOf({ kind, api, control }: Place): readonly Option[] {
	switch (kind) {
		case 'opennds':
			return ['loginHosts', 'secret', 'level'];
		case 'coova':
			return ['loginHosts', 'secret', ...RADIUS];
		case 'mikrotik':
			return ['loginHosts', 'control', ...(control === 'rest' ? ([...API, 'apiUser'] as const) : RADIUS)];
		case 'unifi':
			return ['site', 'accessPoints', ...(api === null ? (['externalAccess'] as const) : API)];
		case 'hostapd':
			return RADIUS;
	}
}

/** By kind, the option that decides whether a gateway has these others. */
const DECIDED_BY: Partial<Record<GatewayKind, { by: string; options: readonly Option[] }>> = {
	mikrotik: { by: '--control', options: [...RADIUS, ...API, 'apiUser'] },
	unifi: { by: '--api', options: ['externalAccess', ...API] }
};

/** Reports the given options that a gateway does not have, by their names on the command line. */
export function refuseForeign(given: Partial<GatewayInput>, place: Place, report: Report): void {
	const known: readonly string[] = ['publicApi', ...optionsOf(place)];
	for (const name of Object.keys(NO_SETTINGS) as Option[]) {
		const value = given[name] ?? false;
		if (value === false || (Array.isArray(value) && value.length === 0) || known.includes(name)) continue;
		const field = name
			.replace(/(Host|Point)s$/, '$1')
			.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
		const decided = DECIDED_BY[place.kind];
		const hint = decided?.options.includes(name) ? `, or change ${decided.by}` : '';
		report(field, `${place.kind} with these options does not use it; leave it out${hint}`);
	}
}
