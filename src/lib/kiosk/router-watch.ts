/** Reads the kiosk's router again and again. */
import type { Availability, KioskClient } from './client.ts';

const OPEN_MS = 20_000;
/** Shorter while the kiosk cannot sell. */
const CLOSED_MS = 5_000;

export class RouterWatch {
	readonly #client: KioskClient;
	readonly #onRead: (availability: Availability | null) => void;
	#reads = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	/** @param onRead called after each read; null without a connection */
	constructor(client: KioskClient, onRead: (availability: Availability | null) => void) {
		this.#client = client;
		this.#onRead = onRead;
	}

	async read(): Promise<void> {
		clearTimeout(this.#timer);
		const read = ++this.#reads;
		const seen = await this.#client.look();
		// A newer request is running.
		if (read !== this.#reads) return;
		this.#onRead(seen);
		const pauseMs = seen?.state === 'open' ? OPEN_MS : CLOSED_MS;
		this.#timer = setTimeout(() => void this.read(), pauseMs);
	}

	stop(): void {
		this.#reads += 1;
		clearTimeout(this.#timer);
	}
}
