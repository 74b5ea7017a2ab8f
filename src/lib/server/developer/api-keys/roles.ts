import { SCOPES, type Role, type Scope } from '#lib/server/api/contract/scopes.ts';

export const ROLES = ['app', 'owner', 'admin'] as const;
const ROLE_RANK: Record<Role, number> = { app: 0, owner: 1, admin: 2 };

/** True if a role includes the rights of another. */
export const hasRole = (role: Role, needed: Role): boolean => ROLE_RANK[role] >= ROLE_RANK[needed];

/** The lowest role that may use a scope. */
const neededRole = (scope: Scope): Role => (scope.startsWith('owner:') ? 'owner' : 'app');

/** Lists the scopes that a key of a role can use. */
export const scopesOf = (role: Role): Scope[] => SCOPES.filter((scope) => hasRole(role, neededRole(scope)));
