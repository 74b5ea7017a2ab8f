import {
	accountPage,
	deleteInvitations,
	invite,
	removeSecondFactor,
	setRatePlan,
	setRole,
	setStatus,
	startView,
	stopView
} from '#lib/server/web/admin/accounts.ts';
import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => accountPage(event, await requireAdmin(event));

export const actions: Actions = {
	invite: async (event) => invite(event, await requireAdmin(event)),
	links: async (event) => deleteInvitations(event, await requireAdmin(event)),
	factor: async (event) => removeSecondFactor(event, await requireAdmin(event)),
	suspend: async (event) => setStatus(event, await requireAdmin(event), 'suspended'),
	restore: async (event) => setStatus(event, await requireAdmin(event), 'active'),
	role: async (event) => setRole(event, await requireAdmin(event)),
	plan: async (event) => setRatePlan(event, await requireAdmin(event)),
	view: async (event) => startView(event, await requireAdmin(event)),
	stop: async (event) => stopView(event, await requireAdmin(event))
};
