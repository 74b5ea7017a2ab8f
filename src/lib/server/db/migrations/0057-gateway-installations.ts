import type { Migration } from '../migrate.ts';

/** The mark of our users at a gateway, kept when the secret changes from which it was derived. */
export const gatewayInstallations: Migration = {
	name: '0057-gateway-installations',
	statements: () => [`alter table gateways add column installation text`]
};
