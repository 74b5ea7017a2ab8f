import { gatewaySecret } from '../platform/ids.ts';
import { NO_SETTINGS, type GatewayChange, type GatewayInput } from '../gateways/settings/input.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';

/** The kinds that need no program, file or server of the administrator. */
export const OWN_KINDS = ['opennds', 'mikrotik', 'unifi'] as const;
export type OwnKind = (typeof OWN_KINDS)[number];

/** Per router. */
export const MAX_OWN_GATEWAYS = 5;

/** The fields of an owner's form; '' for an omitted one. */
export interface OwnInput {
	loginHost: string;
	api: string;
	/** UniFi only: Airtill makes the password of RouterOS' user. */
	apiKey: string;
	apiCertificate: string;
	site: string;
	/** Separated by spaces or commas. */
	accessPoints: string;
}

export const ROUTER_OS_USER = 'airtill';

const listOf = (text: string) => text.split(/[\s,;]+/).filter((one) => one !== '');

/** @param origin address of this installation: with https, openNDS needs level 4 */
export function ownInput(
	{ name, routerId, kind }: { name: string; routerId: number; kind: OwnKind },
	own: OwnInput,
	origin: string
): GatewayInput {
	const isRouterOs = kind === 'mikrotik';
	return {
		...NO_SETTINGS,
		...{ name, routerId, kind },
		...settingsOf(kind, own),
		...(kind === 'opennds' && { level: origin.startsWith('https:') ? '4' : '1' }),
		...(isRouterOs && { control: 'rest', apiUser: ROUTER_OS_USER, apiKey: gatewaySecret() }),
		...(kind === 'unifi' && { apiKey: own.apiKey || null })
	};
}

/** Secrets stay, see `rotate`. */
export const ownChange = ({ kind }: RegisteredGateway, own: OwnInput): GatewayChange =>
	settingsOf(kind as OwnKind, own);

function settingsOf(kind: OwnKind, { loginHost, api, apiCertificate, site, accessPoints }: OwnInput) {
	return {
		...(kind !== 'unifi' && { loginHosts: listOf(loginHost) }),
		...(kind !== 'opennds' && { api: api || null, apiCertificate: apiCertificate || null, publicApi: true }),
		...(kind === 'unifi' && { site: site || null, accessPoints: listOf(accessPoints) })
	};
}

export const ownInputOf = ({ loginHosts, settings }: RegisteredGateway): OwnInput => ({
	...{ loginHost: loginHosts.join(' '), api: settings.api ?? '', apiKey: '' },
	...{ apiCertificate: settings.apiCertificate ?? '', site: settings.site ?? '' },
	accessPoints: (settings.accessPoints ?? []).join(' ')
});

/** False if an administrator has given it a key, which its router's owner must not see or send elsewhere. */
export const isOwn = ({ kind, settings }: RegisteredGateway): boolean =>
	kind === 'opennds' || settings.publicApi === true;
