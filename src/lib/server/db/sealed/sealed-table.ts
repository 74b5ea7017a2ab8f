import type { Secrets } from '../../platform/secrets.ts';
import type { Schema } from '../schema.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Resealed {
	/** New values by column; empty if nothing is sealed with the fallback. */
	changes: Readonly<Record<string, string | null>>;
	/** Values that no accepted secret opens. They stay as they are. */
	unreadable: number;
}

export interface SealedTable {
	name: keyof Schema;
	/** Columns of the primary key. */
	key: readonly string[];
	/** Columns with sealed values. */
	columns: readonly string[];
	/** A column that is unique. A row whose new value is taken loses its changed values. */
	unique?: string;
	reseal(secrets: Secrets, row: Row): Resealed;
}

/** `contexts` names the sealed columns, each with the associated data of its values. */
export function sealedTable<R extends object>(
	name: keyof Schema,
	key: readonly string[],
	contexts: Readonly<Record<string, (row: R) => string>>,
	alsoSet: (secrets: Secrets, row: R) => Readonly<Record<string, string>> = () => ({})
): SealedTable {
	return {
		name,
		key,
		columns: Object.keys(contexts),
		reseal(secrets, untyped) {
			const row = untyped as R;
			const changes: Record<string, string> = {};
			let unreadable = 0;
			for (const [column, contextOf] of Object.entries(contexts)) {
				const sealed = untyped[column];
				if (typeof sealed !== 'string') continue;
				const context = contextOf(row);
				const keyIndex = secrets.keyIndex(sealed, context);
				if (keyIndex === -1) unreadable += 1;
				if (keyIndex > 0) changes[column] = secrets.encrypt(secrets.decrypt(sealed, context), context);
			}
			const isChanged = Object.keys(changes).length > 0;
			return { changes: isChanged ? { ...changes, ...alsoSet(secrets, row) } : {}, unreadable };
		}
	};
}
