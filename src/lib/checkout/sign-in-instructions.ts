import type { QrCode } from '../format/qr.ts';

/** A text to type or copy. */
export interface Credential {
	label: string;
	text: string;
	/** Label of its button. */
	copy: string;
}

/** The page's instructions to get online, in the words for the kind of access. */
export interface SignInInstructions {
	/** The purchase's code, where it replaces username and password. */
	code: Credential | null;
	/** null where none is needed. */
	user: Credential | null;
	/** null where none is needed. */
	password: Credential | null;
	/** Title under which username and password are folded; null where they are not. */
	folded: string | null;
	/** The password of the Wi-Fi itself, where it differs from that of the sign-in. */
	wifiPassword: Credential | null;
	/** Instructions, in this order. */
	steps: string[];
	/** null where a QR code does not help. */
	qr: { code: QrCode; label: string; hint: string } | null;
	/** About the end of the time; null where it needs no explanation. */
	note: string | null;
}

/** The instructions to go online on this device. */
export interface GoOnline {
	tone: 'good' | 'plain' | 'bad';
	title: string | null;
	texts: string[];
	/** Target of the link and of the automatic navigation. */
	address: string;
	link: { text: string; quiet: boolean } | null;
	/** Seconds until the automatic navigation; null without one. */
	automaticSeconds: number | null;
	/** Address of the page without automatic navigation. */
	stay: string | null;
	/** The button that moves the pass to this device. */
	move: string | null;
	/** Seconds until a page without script reloads, while the gateway connects the device. */
	refreshSeconds: number | null;
}
