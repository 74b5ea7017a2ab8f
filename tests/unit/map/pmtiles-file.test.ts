import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readArchive } from '#lib/server/basemap.ts';
import { makeArchive, type ArchiveFaults } from '../../support/pages/basemap.ts';
import { Refused } from '#lib/server/platform/errors.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-pmtiles-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function archive(content: Buffer | string): string {
	const file = path.join(folder, 'city.pmtiles');
	writeFileSync(file, content);
	return file;
}

it('what a map shows stands in its header', async () => {
	expect(await readArchive(archive(makeArchive(1000)))).toEqual({
		bounds: [0.2, 32.5, 0.45, 32.7],
		minZoom: 0,
		maxZoom: 15,
		bytes: 1127,
		version: expect.stringMatching(/^[\w-]{16}$/)
	});
});

const FAULTS: [string, ArchiveFaults, RegExp][] = [
	['with another beginning', { magic: 'MBTiles' }, /^it is no PMTiles file$/],
	['of version 2', { version: 2 }, /^it is PMTiles version 2, and version 3 is needed$/],
	['of pictures', { tileType: 2 }, /^its tiles are Png, not vector tiles \(MVT\)$/],
	['of an unknown kind', { tileType: 77 }, /^its tiles are of an unknown kind, not/],
	['that is cut off', { missing: 1 }, /^it is cut off: 1127 of 1128 bytes are there$/],
	['that covers nothing', { bounds: [10, 10, 10, 10] }, /^its bounds are not an area of the globe$/],
	['beyond the globe', { bounds: [170, 10, 190, 20] }, /^its bounds are not an area of the globe$/]
];

it.each(FAULTS)('a file %s is refused with its reason', async (_name, fault, reason) => {
	const refusal = await readArchive(archive(makeArchive(1000, fault))).catch((error: unknown) => error);
	expect(refusal).toBeInstanceOf(Refused);
	expect(refusal).toMatchObject({ message: expect.stringMatching(reason) });
});

it('a file that is empty, or ends within its header, is refused', async () => {
	for (const content of ['', 'PMTiles', makeArchive(0).subarray(0, 126)]) {
		await expect(readArchive(archive(content))).rejects.toThrow('it is no PMTiles file');
	}
});
