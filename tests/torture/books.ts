import { checkBooks } from '../../src/lib/server/billing/books.ts';
import { connectDatabase } from '../../src/lib/server/db/database.ts';

/** Compares the books with the payments, refunds and vouchers, as `airtill books check`. @returns what differs */
export async function judgeBooks(databaseUrl: string): Promise<string[]> {
	const database = await connectDatabase(databaseUrl, { poolSize: 1 });
	try {
		const { entries, problems } = await checkBooks(database);
		return entries === 0 ? ['the books are empty'] : problems;
	} finally {
		await database.close();
	}
}
