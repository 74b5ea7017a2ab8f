import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';

/** Phone numbers and secrets are for the user who runs Airtill only, whatever the umask. */
export const PRIVATE_FILE_MODE = 0o600;
const MODES = { folder: 0o700, file: PRIVATE_FILE_MODE };
const OTHER_USERS = 0o007;
const STICKY = 0o1000;

/** Creates the folder and its parents for this user only. An existing folder keeps its mode. */
export const createPrivateFolder = (path: string) => mkdirSync(path, { recursive: true, mode: MODES.folder });

/** Creates the file for this user only, if it does not exist. */
export function createPrivateFile(path: string): void {
	if (!existsSync(path)) closeSync(openSync(path, 'a', MODES.file));
}

/** Creates a new file for this user only. @throws if anything is there, such as a link that another user planted */
export const createNewPrivateFile = (path: string) => closeSync(openSync(path, 'wx', MODES.file));

/** Returns true if any user of this machine may read or write there. */
export const isOpenToAll = (path: string): boolean =>
	existsSync(path) && (statSync(path).mode & OTHER_USERS) !== 0;

/**
 * Takes access from other users if every user has some. Access of a group stays if it was given on purpose: to the group
 * alone, or to another group than this user's own. A shared folder such as /tmp stays too.
 */
export function closeToOthers(path: string, kind: keyof typeof MODES): void {
	if (!isOpenToAll(path)) return;
	const found = statSync(path);
	if ((found.mode & STICKY) !== 0 || found.isFile() !== (kind === 'file')) return;
	try {
		const isOwnGroup = found.gid === process.getgid?.();
		chmodSync(path, isOwnGroup ? MODES[kind] : found.mode & ~OTHER_USERS);
	} catch {
		// It belongs to another user. `doctor` names it.
	}
}
