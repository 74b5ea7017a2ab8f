import type { Base } from '#lib/server/base.ts';
import type { Tables } from './auth.ts';
import { ensureAccount } from '../accounts/accounts.ts';

/** Users with unconfirmed addresses are deleted after this. */
const UNCONFIRMED_MS = 7 * 24 * 60 * 60 * 1000;

interface User {
	id: string;
	twoFactorEnabled?: boolean | null;
}

export async function findUser({ internalAdapter }: Tables, email: string): Promise<User | null> {
	return (await internalAdapter.findUserByEmail(email))?.user ?? null;
}

/** A new user has no password and is unconfirmed until a link is used. */
export async function ensureUser(tables: Tables, email: string): Promise<{ id: string }> {
	const known = await findUser(tables, email);
	if (known) return known;
	try {
		const user = { email, name: email, emailVerified: false };
		return await tables.internalAdapter.createUser(user, { method: 'email-password' });
	} catch (error) {
		const other = await findUser(tables, email);
		if (!other) throw error;
		return other;
	}
}

/** Requires a proven address: connects the user to the account of that address. */
export async function connectAccount(base: Base, { internalAdapter }: Tables, userId: string): Promise<void> {
	const user = await internalAdapter.findUserById(userId);
	if (!user) return;
	const known = (user as { accountId?: number | null }).accountId ?? null;
	const wanted = { email: user.email, role: 'app', plan: 'default' } as const;
	const accountId = known ?? (await ensureAccount(base, wanted, 'sign-up')).id;
	await internalAdapter.updateUser(userId, { emailVerified: true, accountId });
}

export async function deleteUnconfirmed({ adapter }: Tables, now: number): Promise<void> {
	await adapter.deleteMany({
		model: 'user',
		where: [
			{ field: 'emailVerified', value: false },
			{ field: 'createdAt', operator: 'lt', value: new Date(now - UNCONFIRMED_MS) }
		]
	});
}

/** Ends all password links of a user, and the sign-ins that wait for the second factor. */
export async function deleteLinks({ adapter }: Tables, userId: string): Promise<void> {
	await adapter.deleteMany({ model: 'verification', where: [{ field: 'value', value: userId }] });
}

/** Returns false if the user has none. */
export async function deleteSecondFactor(
	{ adapter, internalAdapter }: Tables,
	userId: string
): Promise<boolean> {
	await internalAdapter.updateUser(userId, { twoFactorEnabled: false });
	const where = [{ field: 'userId', value: userId }];
	return (await adapter.deleteMany({ model: 'twoFactor', where })) > 0;
}
