import type { Tx } from '#lib/server/db/database.ts';
import { wifiPassword } from '#lib/server/platform/ids.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import type { SessionRow } from './store.ts';

/** Passwords of paid sessions, which are stored encrypted, each for its own session. */
export interface Passwords {
	/** What a paid session lets its buyer in with; null when it has no password (any more). */
	opened(row: SessionRow): string | null;
	/** As it is stored. */
	sealed(id: number, password: string): string;
	/** With what a session begins: the password of a pass that goes on; else a new one, or what the owner reveals. */
	forStart(trx: Tx, row: SessionRow, pass: SessionRow | null): Promise<string>;
}

/** What a stored password is sealed for. */
export const passwordContext = (id: number) => `session:${id}`;

export function createPasswords({ secrets, routers }: { secrets: Secrets; routers: Routers }): Passwords {
	const opened = ({ id, password_sealed: sealed }: SessionRow) =>
		sealed === null ? null : secrets.decrypt(sealed, passwordContext(id));

	return {
		opened,
		sealed: (id, password) => secrets.encrypt(password, passwordContext(id)),
		async forStart(trx, row, pass) {
			if (row.access_kind === 'shared_password') {
				const shared = routers.networkPassword(await routers.known(trx, row.router_id));
				if (shared !== null) return shared;
			}
			return (pass && opened(pass)) ?? wifiPassword();
		}
	};
}
