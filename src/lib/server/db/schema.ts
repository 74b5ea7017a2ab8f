import type * as access from './schema/access.ts';
import type * as accounts from './schema/accounts.ts';
import type * as api from './schema/api.ts';
import type * as billing from './schema/billing.ts';
import type * as gateways from './schema/gateways.ts';
import type * as notifications from './schema/notifications.ts';
import type * as portal from './schema/portal.ts';
import type * as queue from './schema/queue.ts';
import type * as routers from './schema/routers.ts';
import type * as sandbox from './schema/sandbox.ts';
import type * as webhooks from './schema/webhooks.ts';

export type * from './schema/access.ts';
export type * from './schema/accounts.ts';
export type * from './schema/api.ts';
export type * from './schema/billing.ts';
export type * from './schema/gateways.ts';
export type * from './schema/notifications.ts';
export type * from './schema/portal.ts';
export type * from './schema/queue.ts';
export type * from './schema/routers.ts';
export type * from './schema/sandbox.ts';
export type * from './schema/webhooks.ts';

/**
 * The tables, the same on SQLite and PostgreSQL. Integers hold ids, money (minor units), instants (`*_at`, ms since
 * the epoch) and flags (0 or 1). Text holds the rest, with lists and documents as JSON.
 * Only better-auth uses the tables `sign_in_*` (authentication/auth.ts), so only the one with sealed values is listed.
 */
export interface Schema {
	accounts: accounts.AccountsTable;
	api_keys: accounts.ApiKeysTable;
	staff_invitations: accounts.StaffInvitationsTable;
	owner_views: accounts.OwnerViewsTable;
	failed_sign_ins: accounts.FailedSignInsTable;
	sign_in_second_factors: accounts.SecondFactorsTable;
	routers: routers.RoutersTable;
	sessions: billing.SessionsTable;
	extra_time: billing.ExtraTimeTable;
	payments: billing.PaymentsTable;
	refunds: billing.RefundsTable;
	operator_messages: billing.OperatorMessagesTable;
	reviews: billing.ReviewsTable;
	audit_log: billing.AuditLogTable;
	events: queue.EventsTable;
	jobs: queue.JobsTable;
	price_changes: routers.PriceChangesTable;
	offer_changes: routers.OfferChangesTable;
	brands: routers.BrandsTable;
	purchases: portal.PurchasesTable;
	idempotent_answers: api.IdempotentAnswersTable;
	request_log: api.RequestLogTable;
	webhook_endpoints: webhooks.WebhookEndpointsTable;
	webhook_deliveries: webhooks.WebhookDeliveriesTable;
	webhook_attempts: webhooks.WebhookAttemptsTable;
	gateways: gateways.GatewaysTable;
	access_point_owners: gateways.AccessPointOwnersTable;
	captive_sessions: gateways.CaptiveSessionsTable;
	passes: access.PassesTable;
	grants: access.GrantsTable;
	device_slots: access.DeviceSlotsTable;
	connections: access.ConnectionsTable;
	notifications: notifications.NotificationsTable;
	alert_channels: notifications.AlertChannelsTable;
	alert_outages: notifications.AlertOutagesTable;
	sandbox_charges: sandbox.SandboxChargesTable;
	sandbox_refunds: sandbox.SandboxRefundsTable;
}
