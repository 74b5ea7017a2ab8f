import { normaliseEmail } from '#lib/domain/email.ts';
import { equalSecrets, type Secrets } from '#lib/server/platform/secrets.ts';
import { openTables, type SignIn } from './context.ts';
import { connectAccount, ensureUser } from './users.ts';
import { findAccountByEmail } from '../accounts/accounts.ts';

const PASSWORD_BYTES = 9;

export const deriveDemoPassword = (secrets: Secrets, email: string): string =>
	(secrets.derive(`demo-password:${email}`, PASSWORD_BYTES).toString('hex').match(/.{6}/g) ?? []).join('-');

/** Creates the demo user if `email` and `password` are a demo account's and its derived password. */
export async function ensureDemoUser(
	state: SignIn,
	{ email, password }: { email: string; password: string }
): Promise<void> {
	const { config, demoEmails, secrets } = state;
	const demo = demoEmails.find((known) => known === normaliseEmail(email));
	if (demo === undefined || !config.demo || !equalSecrets(password, deriveDemoPassword(secrets, demo)))
		return;
	if (!(await findAccountByEmail(state, demo))) return;
	const tables = await openTables(state);
	const { internalAdapter, password: passwords } = tables;
	const { id } = await ensureUser(tables, demo);
	const kept = (await internalAdapter.findCredentialAccount(id))?.password;
	if (kept && (await passwords.verify({ hash: kept, password }))) return;
	const hash = await passwords.hash(password);
	if (kept) await internalAdapter.updatePassword(id, hash);
	else {
		const credential = { userId: id, accountId: id, providerId: 'credential', password: hash };
		await internalAdapter.createAccount(credential);
	}
	await connectAccount(state, tables, id);
}
