import * as m from '#lib/i18n/messages.js';
import type { StaffRole } from '../../accounts/staff.ts';

/** An administrator who has routers acts as their owner. */
export type OwnerRole = 'owner' | StaffRole;

const OWNER: readonly OwnerRole[] = ['owner'];
const MANAGERS: readonly OwnerRole[] = ['owner', 'manager'];
const EVERYBODY: readonly OwnerRole[] = ['owner', 'manager', 'cashier'];

/**
 * Roles by route below /owner. `page` is its GET, the others are its form actions. A missing row is refused.
 *
 * Cashiers help customers and see the sales of today. Managers do what the owner does, except:
 * - staff, so that nobody gets more than the owner gave;
 * - alerts, which go to the owner;
 * - refunds by hand, which no operator confirms;
 * - secrets of gateways, which still work after the person has left.
 */
export const OWNER_ROUTES: Readonly<Record<string, Readonly<Record<string, readonly OwnerRole[]>>>> = {
	'': { page: EVERYBODY },
	'[...unknown]': { page: EVERYBODY },
	account: {
		...{ page: EVERYBODY, password: EVERYBODY, sessions: EVERYBODY },
		...{ factor: EVERYBODY, confirm: EVERYBODY, stop: EVERYBODY }
	},
	customers: { page: EVERYBODY },
	'customers/[session]': { page: EVERYBODY },
	'customers/[session]/code': { page: EVERYBODY, default: EVERYBODY },
	'customers/[session]/move': { page: EVERYBODY, default: EVERYBODY },
	'customers/[session]/extend': { page: EVERYBODY, default: EVERYBODY },
	'customers/[session]/end': { page: EVERYBODY, default: EVERYBODY },
	'customers/[session]/refund': { page: MANAGERS, default: MANAGERS },
	'customers/[session]/by-hand': { page: OWNER, default: OWNER },
	earnings: { page: MANAGERS },
	'earnings/statement': { page: MANAGERS },
	payments: { page: MANAGERS },
	'payments/export': { page: MANAGERS },
	brand: { page: MANAGERS, default: MANAGERS },
	routers: { page: MANAGERS },
	'routers/new': { page: MANAGERS, default: MANAGERS },
	'routers/[router]': { page: MANAGERS },
	'routers/[router]/access': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/edit': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/offers': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/price': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/sales': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/gateway': { page: MANAGERS, default: OWNER },
	'routers/[router]/gateway/[gateway]': {
		...{ page: MANAGERS, test: MANAGERS },
		...{ config: OWNER, change: OWNER, rotate: OWNER, remove: OWNER }
	},
	'routers/[router]/gateway/[gateway]/file': { default: OWNER },
	alerts: { page: OWNER, default: OWNER },
	staff: { page: OWNER, invite: OWNER, again: OWNER, withdraw: OWNER, role: OWNER, remove: OWNER }
};

/** Returns who may do this; undefined for a route or an action that is not in the table. */
export const rolesOf = (route: string, action = 'page'): readonly OwnerRole[] | undefined =>
	Object.hasOwn(OWNER_ROUTES[route] ?? {}, action) ? OWNER_ROUTES[route]?.[action] : undefined;

export const mayDo = (role: OwnerRole, route: string, action?: string): boolean =>
	rolesOf(route, action)?.includes(role) ?? false;

export function roleWords(role: StaffRole): { name: string; text: string } {
	switch (role) {
		case 'cashier':
			return { name: m.staff_cashier(), text: m.staff_cashier_text() };
		case 'manager':
			return { name: m.staff_manager(), text: m.staff_manager_text() };
	}
}
