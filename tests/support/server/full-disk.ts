/** A disk that can be full: a small file system where the tests may mount one, otherwise a limit on the server's files. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface SmallDisk {
	/** A folder on it, for the data of a server. */
	readonly folder: string;
	/** The error: `ENOSPC` on a small file system, `EFBIG` by a process limit. */
	readonly kind: 'ENOSPC' | 'EFBIG';
	/** Fills the disk. @param pid of the server that writes there */
	fill(pid: number): void;
	/** There is space again. */
	free(pid: number): void;
	remove(): void;
}

const BALLAST_BYTES = 1 << 16;

/** @param megabytes of the file system */
export function smallDisk(megabytes: number): SmallDisk {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-disk-'));
	const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', folder];
	const isMounted = spawnSync('mount', options).status === 0;
	const ballast = path.join(folder, 'ballast');
	const limit = (pid: number, bytes: string) => {
		const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], {
			encoding: 'utf8'
		});
		if (status !== 0) throw new Error(`prlimit: ${stderr}`);
	};
	return {
		folder,
		kind: isMounted ? 'ENOSPC' : 'EFBIG',
		fill(pid) {
			if (isMounted) return fillUp(ballast);
			// The write-ahead log keeps its size; it grows with every transaction.
			const sizes = readdirSync(folder).map((name) => statSync(path.join(folder, name)).size);
			limit(pid, String(Math.max(1, Math.min(...sizes.filter((size) => size > 0)))));
		},
		free(pid) {
			if (isMounted) rmSync(ballast, { force: true });
			else limit(pid, 'unlimited');
		},
		remove() {
			if (isMounted) spawnSync('umount', ['-l', folder]);
			rmSync(folder, { recursive: true, force: true });
		}
	};
}

function fillUp(file: string): void {
	for (let bytes = BALLAST_BYTES; bytes >= 1; bytes = Math.floor(bytes / 2)) {
		try {
			for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' });
		} catch (error) {
			if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
		}
	}
}
