import type {
	ConnectionsTable,
	DeviceSlotsTable,
	GrantsTable,
	NetworkUsageTable,
	PassesTable
} from './schema/access.ts';
import type { AccountsTable, ApiKeysTable } from './schema/accounts.ts';
import type { IdempotentAnswersTable, RequestLogTable, KeyUsageTable } from './schema/api.ts';
import type {
	SessionsTable,
	PaymentsTable,
	RefundsTable,
	OperatorMessagesTable,
	ReviewsTable,
	AuditLogTable
} from './schema/billing.ts';
import type { GatewaysTable, CaptiveSessionsTable } from './schema/gateways.ts';
import type { PurchasesTable } from './schema/portal.ts';
import type { EventsTable, JobsTable } from './schema/queue.ts';
import type { RoutersTable, PriceChangesTable, BrandsTable } from './schema/routers.ts';
import type { SandboxChargesTable, SandboxRefundsTable, SandboxInstructionsTable } from './schema/sandbox.ts';
import type {
	WebhookEndpointsTable,
	WebhookDeliveriesTable,
	WebhookAttemptsTable
} from './schema/webhooks.ts';

export type * from './schema/access.ts';
export type * from './schema/accounts.ts';
export type * from './schema/api.ts';
export type * from './schema/billing.ts';
export type * from './schema/gateways.ts';
export type * from './schema/portal.ts';
export type * from './schema/queue.ts';
export type * from './schema/routers.ts';
export type * from './schema/sandbox.ts';
export type * from './schema/webhooks.ts';

/**
 * The tables as Kysely sees them, the same on SQLite and PostgreSQL: integers for ids, money (minor units),
 * instants (`*_at`, milliseconds since the epoch) and flags (0 or 1); text for everything else; lists and
 * documents as JSON in text. The tables `sign_in_*` are better-auth's alone (sign-in/auth.ts) and not listed.
 */
export interface Schema {
	accounts: AccountsTable;
	api_keys: ApiKeysTable;
	routers: RoutersTable;
	sessions: SessionsTable;
	payments: PaymentsTable;
	refunds: RefundsTable;
	operator_messages: OperatorMessagesTable;
	reviews: ReviewsTable;
	audit_log: AuditLogTable;
	events: EventsTable;
	jobs: JobsTable;
	price_changes: PriceChangesTable;
	brands: BrandsTable;
	purchases: PurchasesTable;
	idempotent_answers: IdempotentAnswersTable;
	request_log: RequestLogTable;
	key_usage: KeyUsageTable;
	webhook_endpoints: WebhookEndpointsTable;
	webhook_deliveries: WebhookDeliveriesTable;
	webhook_attempts: WebhookAttemptsTable;
	gateways: GatewaysTable;
	captive_sessions: CaptiveSessionsTable;
	passes: PassesTable;
	grants: GrantsTable;
	device_slots: DeviceSlotsTable;
	connections: ConnectionsTable;
	network_usage: NetworkUsageTable;
	sandbox_charges: SandboxChargesTable;
	sandbox_refunds: SandboxRefundsTable;
	sandbox_instructions: SandboxInstructionsTable;
}
