/** An offer as typed in the owner's form. Speeds are in Mbit/s, data is in GB. */
export interface OfferEntry {
	name: string;
	count: string;
	unit: string;
	price: string;
	devices: string;
	down: string;
	up: string;
	data: string;
	days: readonly string[];
	from: string;
	until: string;
	active: boolean;
}

/** The names of the fields that a problem can name. */
export type OfferField = keyof OfferEntry;

export interface OffersDraft {
	hourly: boolean;
	/** Whether also long times are sold at the hourly price. */
	long: boolean;
	/** Number of the change that the owner has seen. */
	version: number;
	rows: readonly OfferEntry[];
}
