import { SEALED_PASSWORDS } from './passes/passwords.ts';
import { SEALED_ANSWERS } from './idempotency/idempotency.ts';
import type { SealedTable } from './db/sealed/sealed-table.ts';
import { SEALED_SECOND_FACTORS } from './authentication/second-factor.ts';
import { SEALED_DELIVERIES, SEALED_ENDPOINTS } from './developer/webhooks/delivery.ts';
import { SEALED_ENTRIES } from './gateways/captive-sessions/record.ts';
import { SEALED_GATEWAYS } from './gateways/gateway-record.ts';
import { SEALED_NOTIFICATIONS } from './notifications/notifications.ts';
import { SEALED_PURCHASES } from './portal/purchases/codes.ts';
import { SEALED_NETWORK_PASSWORDS } from './routers/routers.ts';

/** Every table with values that AIRTILL_SECRET seals. */
export const SEALED_TABLES: readonly SealedTable[] = [
	SEALED_GATEWAYS,
	SEALED_NETWORK_PASSWORDS,
	SEALED_PASSWORDS,
	SEALED_ENDPOINTS,
	SEALED_PURCHASES,
	SEALED_ENTRIES,
	SEALED_ANSWERS,
	SEALED_DELIVERIES,
	SEALED_NOTIFICATIONS,
	SEALED_SECOND_FACTORS
];
