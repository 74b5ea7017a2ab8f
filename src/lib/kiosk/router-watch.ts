/** Reads the kiosk's router again and again, with a token for the next purchase. */
import type { Availability, KioskClient } from './client.ts';

const OPEN_MS = 20_000;
/** Shorter while the kiosk cannot sell. */
const CLOSED_MS = 5_000;

export class RouterWatch {
	readonly #client: KioskClient;
	readonly #onRead: (availability: Availability | null) => void;
	#token = '';
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
		this.#token = seen?.purchase ?? this.#token;
		this.#onRead(seen?.availability ?? null);
		const pauseMs = seen?.availability.state === 'open' ? OPEN_MS : CLOSED_MS;
		this.#timer = setTimeout(() => void this.read(), pauseMs);
	}

	/** Returns a token for a purchase, each once; '' without a connection. */
	async takeToken(): Promise<string> {
		if (this.#token === '') await this.read();
		const token = this.#token;
		this.#token = '';
		return token;
	}

	stop(): void {
		this.#reads += 1;
		clearTimeout(this.#timer);
	}
}
