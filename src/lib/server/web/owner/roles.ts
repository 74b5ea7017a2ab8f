import type { StaffRole } from '../../developer/accounts/accounts.ts';

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
 * - secrets of gateways, which still work after the person has left.
 */
const PLACES: Readonly<Record<string, Readonly<Record<string, readonly OwnerRole[]>>>> = {
	'': { page: EVERYBODY },
	'[...unknown]': { page: EVERYBODY },
	account: { page: EVERYBODY, password: EVERYBODY, sessions: EVERYBODY },
	people: { page: MANAGERS },
	help: { page: EVERYBODY },
	'help/[session]': { page: EVERYBODY },
	'help/[session]/code': { page: EVERYBODY, default: EVERYBODY },
	'help/[session]/move': { page: EVERYBODY, default: EVERYBODY },
	'help/[session]/extend': { page: EVERYBODY, default: EVERYBODY },
	'help/[session]/end': { page: EVERYBODY, default: EVERYBODY },
	'help/[session]/refund': { page: MANAGERS, default: MANAGERS },
	earnings: { page: MANAGERS },
	'earnings/all': { page: MANAGERS },
	'earnings/statement': { page: MANAGERS },
	payments: { page: MANAGERS },
	'payments/export': { page: MANAGERS },
	brand: { page: MANAGERS, default: MANAGERS },
	routers: { page: MANAGERS },
	'routers/new': { page: MANAGERS, default: MANAGERS },
	'routers/[router]': { page: MANAGERS },
	'routers/[router]/access': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/brand': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/edit': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/network-password': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/offers': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/price': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/sales': { page: MANAGERS, default: MANAGERS },
	'routers/[router]/gateway': { page: MANAGERS, default: OWNER },
	'routers/[router]/gateway/[gateway]': {
		...{ page: MANAGERS, test: MANAGERS },
		...{ config: OWNER, change: OWNER, rotate: OWNER }
	},
	'routers/[router]/gateway/[gateway]/file': { default: OWNER },
	alerts: { page: OWNER, default: OWNER },
	staff: { page: OWNER, invite: OWNER, link: OWNER, role: OWNER, remove: OWNER }
};

/** Returns who may do this; undefined for a place or an action that is not in the table. */
export const rolesOf = (place: string, action = 'page'): readonly OwnerRole[] | undefined =>
	Object.hasOwn(PLACES[place] ?? {}, action) ? PLACES[place]?.[action] : undefined;

export const mayDo = (role: OwnerRole, place: string, action?: string): boolean =>
	rolesOf(place, action)?.includes(role) ?? false;

/** Every place with its actions. */
export const OWNER_PLACES = PLACES;
