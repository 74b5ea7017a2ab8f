import { lockName } from './db/locks.ts';
import { accentOf, parseColour } from '../domain/brand.ts';
import { hiddenCharacter, readLine, readPhone } from '../domain/text.ts';
import type { Clock } from './platform/clock.ts';
import type { BrandBody } from './contract/router.ts';
import type { Database, Queries } from './db/database.ts';
import { Refused } from './platform/errors.ts';
import { sha256, sha256Bytes } from './platform/secrets.ts';
import { sql } from 'kysely';
import type { Row } from './db/schema.ts';

/**
 * The brand of an owner, for all its routers: name, phone number, colour and logo. A logo is drawn again as a small
 * PNG, named by its hash and never changed.
 */

interface BrandChange {
	name: string;
	/** Phone number for buyers; '' for none. */
	contact: string;
	accent: string | null;
	/** An uploaded file, or the action for the current logo. */
	logo: Buffer | 'keep' | 'remove';
	/** Of the brand that the form showed; '' if it is not known. */
	version: string;
}

/** A brand has an invalid field, or is newer than the form (`moved`). */
export type BrandProblem =
	'name_unseen' | 'name_long' | 'contact' | 'colour_format' | 'colour_grey' | LogoProblem | 'moved';

const refuseBrand = (reason: BrandProblem) => new Refused<BrandProblem>(reason);

export const MAX_BRAND_NAME = 40;
export const MAX_CONTACT = 30;
const LOGO_FILE = /^[0-9a-f]{32}\.(svg|png)$/;
const HASH_LENGTH = 32;

/** Names what a form shows of a brand. */
const versionOf = ({ name, contact, accent, logo_file }: Partial<BrandRow> = {}): string =>
	sha256(JSON.stringify([name, contact, accent, logo_file].map((value) => value ?? null)));

export type Branding = ReturnType<typeof createBranding>;

/** The brand of an account, for all its routers. The caller checks who may change it. */
export function createBranding(database: Database, clock: Clock) {
	return {
		/** Returns brands by account. Accounts without one are missing. */
		async ofOwners(
			queries: Queries,
			routers: readonly { owner_account_id: number }[]
		): Promise<ReadonlyMap<number, BrandBody>> {
			const owners = new Set(routers.map(({ owner_account_id: owner }) => owner));
			const brands = new Map<number, BrandBody>();
			for (const row of await find(database.kind, queries, [...owners])) {
				const { account_id: owner, name, contact, accent } = row;
				const brand = { name, contact, accent, logo: logoOf(row) };
				if (Object.values(brand).some((part) => part !== null)) brands.set(owner, brand);
			}
			return brands;
		},
		async read(accountId: number) {
			const [row] = await find(database.kind, database.db, [accountId]);
			const { name = null, contact = null, accent = null } = row ?? {};
			return { name, contact, accent, logo: logoOf(row), version: versionOf(row) };
		},
		/** @throws Refused */
		async change(accountId: number, change: BrandChange, byAccountId: number): Promise<void> {
			const name = checkedName(change.name);
			const contact = checkedContact(change.contact);
			const accent = change.accent === null ? null : checkedAccent(change.accent);
			const logo = typeof change.logo === 'string' ? change.logo : await drawLogo(change.logo);
			const shown = { name, contact, accent, ...logoColumns(logo) };
			await database.transact(async (trx) => {
				await lockName(trx, `brand of ${accountId}`);
				const [before] = await find(database.kind, trx, [accountId]);
				const isOld = change.version !== '' && change.version !== versionOf(before);
				// They are the same if the form was sent twice.
				if (isOld && versionOf({ ...before, ...shown }) !== versionOf(before)) throw refuseBrand('moved');
				await save(trx, {
					account_id: accountId,
					...shown,
					...{ updated_at: clock.now(), updated_by: byAccountId }
				});
			});
		},
		/** Stored SVG logos were rewritten when they were uploaded. */
		async logo(file: string) {
			const extension = LOGO_FILE.exec(file)?.[1];
			const data = extension === undefined ? null : await findLogo(database.db, file);
			if (data === null) return null;
			return {
				type: extension === 'svg' ? 'image/svg+xml' : 'image/png',
				bytes: Buffer.from(data, 'base64')
			};
		}
	};
}

function logoOf(row: BrandRow | undefined): BrandBody['logo'] {
	if (!row?.logo_file || row.logo_width === null || row.logo_height === null) return null;
	return { url: `/logos/${row.logo_file}`, width: row.logo_width, height: row.logo_height };
}

function logoColumns(logo: LogoPicture | 'keep' | 'remove') {
	if (logo === 'keep') return {};
	if (logo === 'remove') return { logo_file: null, logo_data: null, logo_width: null, logo_height: null };
	const { bytes, width, height } = logo;
	return {
		logo_file: `${sha256Bytes(bytes).slice(0, HASH_LENGTH)}.png`,
		logo_data: bytes.toString('base64'),
		logo_width: width,
		logo_height: height
	};
}

function checkedName(text: string): string | null {
	const name = readLine(text);
	if (hiddenCharacter(name) !== null) throw refuseBrand('name_unseen');
	if ([...name].length > MAX_BRAND_NAME) throw refuseBrand('name_long');
	return name === '' ? null : name;
}

function checkedContact(text: string): string | null {
	if (text.trim() === '') return null;
	const contact = readPhone(text);
	if (contact === null || contact.length > MAX_CONTACT) throw refuseBrand('contact');
	return contact;
}

function checkedAccent(text: string): string {
	const colour = parseColour(text.trim());
	if (colour === null) throw refuseBrand('colour_format');
	if (!accentOf(colour)) throw refuseBrand('colour_grey');
	return colour;
}

/** A PNG that we drew from the upload. */
interface LogoPicture {
	bytes: Buffer;
	/** Pixels. */
	width: number;
	height: number;
}

/** src/server.js lets forms with somewhat larger files through, so that their owners get a reason. */
export const MAX_UPLOAD_BYTES = 5 * 1024 ** 2;
/** A small compressed file can hold a huge picture; 16 megapixels take 64 MB to shrink. */
export const MAX_UPLOAD_SIDE = 4096;
const MAX_UPLOAD_PIXELS = MAX_UPLOAD_SIDE ** 2;
/** A buyer's phone loads the logo over a slow link. */
const MAX_LOGO_BYTES = 48 * 1024;
/** Tried from the largest. The first one that fits into MAX_LOGO_BYTES is stored. */
const SIDES_PIXELS = [480, 320, 160, 96] as const;
/** Longest side by shortest side, because a logo is shown beside a name. */
const MAX_RATIO = 8;
const TIMEOUT_SECONDS = 5;
/** From 1 to 10. The default 7 takes ten times as long for a noisy photo, and the file is no smaller. */
const PALETTE_EFFORT = 3;

/** The last drawing. One runs at a time, because each takes much memory and a core. */
let last: Promise<LogoPicture | undefined> = Promise.resolve(undefined);

export type LogoProblem =
	'logo_large' | 'logo_pixels' | 'logo_narrow' | 'logo_details' | 'logo_svg' | 'logo_unreadable';

/**
 * Draws the upload as one small PNG without metadata.
 * SVG is refused: librsvg ignores sharp's timeout, and a file of 2 KB (nested `use` of a blurred shape) kept
 * a core busy for minutes.
 * @throws Refused
 */
export function drawLogo(upload: Buffer): Promise<LogoPicture> {
	const draw = () => drawNow(upload);
	const drawing = last.then(draw, draw);
	last = drawing;
	return drawing;
}

async function drawNow(upload: Buffer): Promise<LogoPicture> {
	if (upload.length > MAX_UPLOAD_BYTES) throw refuseBrand('logo_large');
	const sharp = await loadSharp();
	const { autoOrient: size } = await readable(upload, () =>
		sharp(upload, { limitInputPixels: false }).metadata()
	);
	if (size.width * size.height > MAX_UPLOAD_PIXELS) throw refuseBrand('logo_pixels');
	const ratio = size.width / size.height;
	if (ratio > MAX_RATIO || ratio < 1 / MAX_RATIO) throw refuseBrand('logo_narrow');
	for (const side of SIDES_PIXELS) {
		const { data, info } = await readable(upload, () =>
			sharp(upload, { limitInputPixels: MAX_UPLOAD_PIXELS })
				.autoOrient()
				.resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
				.timeout({ seconds: TIMEOUT_SECONDS })
				.png({ palette: true, effort: PALETTE_EFFORT })
				.toBuffer({ resolveWithObject: true })
		);
		if (data.length <= MAX_LOGO_BYTES) return { bytes: data, width: info.width, height: info.height };
	}
	throw refuseBrand('logo_details');
}

/** Loads sharp with the three readers that a logo needs. Other formats of libvips stay disabled. */
async function loadSharp() {
	const { default: sharp } = await import('sharp');
	sharp.block({ operation: ['VipsForeignLoad'] });
	sharp.unblock({
		operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer']
	});
	return sharp;
}

async function readable<T>(upload: Buffer, read: () => Promise<T>): Promise<T> {
	try {
		return await read();
	} catch {
		throw refuseBrand(upload.includes('<svg') ? 'logo_svg' : 'logo_unreadable');
	}
}

type BrandRow = Omit<Row<'brands'>, 'logo_data'>;

const COLUMNS = sql.raw(
	'account_id, name, contact, accent, logo_file, logo_width, logo_height, updated_at, updated_by'
);

/** Every list of routers reads brands. One parameter, so that one statement fits any number of accounts. */
async function find(kind: Database['kind'], queries: Queries, accountIds: readonly number[]) {
	if (accountIds.length === 0) return [];
	const wanted =
		kind === 'sqlite'
			? sql`in (select value from json_each(${JSON.stringify(accountIds)}))`
			: sql`= any(${accountIds})`;
	const { rows } = await sql<BrandRow>`select ${COLUMNS} from brands where account_id ${wanted}`.execute(
		queries
	);
	return rows;
}

async function save(
	queries: Queries,
	brand: Pick<BrandRow, 'account_id' | 'updated_at' | 'updated_by'> & Partial<Row<'brands'>>
): Promise<void> {
	const { account_id, ...change } = brand;
	await queries
		.insertInto('brands')
		.values({ account_id, ...change })
		.onConflict((conflict) => conflict.column('account_id').doUpdateSet(change))
		.execute();
}

/** Returns the bytes in base64. */
async function findLogo(queries: Queries, file: string): Promise<string | null> {
	const row = await queries
		.selectFrom('brands')
		.select('logo_data')
		.where('logo_file', '=', file)
		.limit(1)
		.executeTakeFirst();
	return row?.logo_data ?? null;
}
