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
 * Cashiers help customers, sell vouchers, count their cash and see the sales of today. Managers do what the owner does, except:
 * - staff, so that nobody gets more than the owner gave;
 * - alerts, which go to the owner, and where payouts go;
 * - refunds by hand, which no operator confirms;
 * - secrets of gateways, which still work after the person has left.
 */
export const OWNER_ROUTES: Readonly<Record<string, Readonly<Record<string, readonly OwnerRole[]>>>> = {
	'': { page: EVERYBODY },
	money: { page: MANAGERS },
	'money/statement': { page: MANAGERS },
	'money/export': { page: MANAGERS },
	'money/payouts': { page: MANAGERS, default: OWNER },
	vouchers: {
		...{ page: EVERYBODY, sell: EVERYBODY, mark: EVERYBODY, undo: EVERYBODY, close: EVERYBODY },
		make: MANAGERS
	},
	'vouchers/[batch]': { page: MANAGERS, print: MANAGERS, void: MANAGERS },
	'vouchers/export': { page: MANAGERS },
	customers: { page: EVERYBODY },
	'customers/[session]': {
		...{ page: EVERYBODY, code: EVERYBODY, move: EVERYBODY, extend: EVERYBODY, end: EVERYBODY },
		...{ refund: MANAGERS, 'by-hand': OWNER }
	},
	routers: { page: MANAGERS },
	'routers/new': { page: MANAGERS, default: MANAGERS },
	'routers/[router]': { page: MANAGERS, price: MANAGERS, sales: MANAGERS },
	'routers/[router]/edit': { page: MANAGERS, details: MANAGERS, access: MANAGERS },
	'routers/[router]/offers': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/gateway': { page: MANAGERS, default: OWNER },
	'routers/[router]/gateway/[gateway]': {
		...{ page: MANAGERS, test: MANAGERS },
		...{ config: OWNER, line: OWNER, change: OWNER, rotate: OWNER, remove: OWNER }
	},
	settings: {
		...{ page: EVERYBODY, password: EVERYBODY, sessions: EVERYBODY },
		...{ factor: EVERYBODY, confirm: EVERYBODY, stop: EVERYBODY },
		...{ brand: MANAGERS, alerts: OWNER },
		...{ invite: OWNER, again: OWNER, withdraw: OWNER, role: OWNER, remove: OWNER }
	}
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
