import type { Migration } from '../migrate.ts';

export const gatewayHealth: Migration = {
	name: '0025-gateway-health',
	statements: () => [
		'alter table gateways rename column silent_since to unresponsive_since',
		'alter table gateways rename column quiet_checks to missed_checks',
		'alter table routers rename column silent_since to unresponsive_since',
		`update gateways set settings = replace(settings, '"way":', '"control":') where settings like '%"way":%'`,
		`update gateways set settings = replace(settings, '"elsewhere":', '"external":')
			where settings like '%"elsewhere":%'`
	]
};
